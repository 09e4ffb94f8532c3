#include "actors/api/limits.hpp"
#include "wire/letters_request.hpp"
#include "wire/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::wire {

namespace {

using testing::HasSubstr;

error refusal_of(std::string_view body) {
  const auto x = parse_letters_request(body);
  EXPECT_FALSE(x) << body;
  return x ? error{} : x.error();
}

} // namespace

TEST(LettersRequest, NamesIdsOrADidOrAll) {
  const auto ids = parse_letters_request(R"({"ids":[9,7,9]})");
  ASSERT_TRUE(ids);
  EXPECT_EQ(ids->ids, (std::vector<uint64_t>{7, 9}));
  EXPECT_FALSE(ids->all);
  const auto repo = parse_letters_request(
    R"({"did":"did:plc:ewvi7nxzyoun6zhxrhs64oiz","cursor":"12"})");
  ASSERT_TRUE(repo);
  EXPECT_TRUE(repo->all);
  EXPECT_EQ(repo->repo->str(), "did:plc:ewvi7nxzyoun6zhxrhs64oiz");
  EXPECT_EQ(repo->after, 12u);
  const auto all = parse_letters_request(R"({"all":true})");
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->all);
  EXPECT_FALSE(all->repo);
}

TEST(LettersRequest, WhatIsAnythingElseIsRefusedAndNamed) {
  const auto expect = [](std::string_view body, const char* words) {
    const auto why = refusal_of(body);
    EXPECT_EQ(why.code, ec::invalid_argument) << body;
    EXPECT_THAT(why.context, HasSubstr(words)) << body;
  };
  expect(R"({"id":[7]})", R"(no member "id" here; did you mean "ids")");
  expect(R"({"ids":[7],"ids":[8]})", R"("ids" is there twice)");
  expect(R"({"ids":7})", R"("ids" must be a list of ids of events)");
  expect(R"({"ids":["7"]})", R"("ids" must be)");
  expect(R"({"ids":[0]})", R"("ids" must be)");
  expect(R"({"ids":[7.5]})", R"("ids" must be)");
  expect(R"({"ids":[[7]]})", R"("ids" must be)");
  expect(R"({"ids":[{"did":"x"}]})", R"("ids" must be)");
  expect(R"({"ids":[9007199254740992]})", R"("ids" must be)");
  expect(R"({"did":"x"})", R"("did" must be a DID, and "x" is none)");
  expect(R"({"did":"did:plc:short"})", R"(and "did:plc:short" is none)");
  expect(R"({"did":"did:key:z6Mk"})", R"(and "did:key:z6Mk" is none)");
  expect(R"({"did":7})", R"("did" must be a DID)");
  expect(R"({"all":false})", R"("all" must be true)");
  expect(R"({"all":1})", R"("all" must be true)");
  expect(R"({"all":null})", R"("all" must be true)");
  expect(R"({"all":true,"cursor":"x"})", R"("cursor" must be)");
  expect(R"({"ids":[7],"cursor":"1"})", R"("cursor" is of)");
  expect(R"({"ids":[7],"all":true})", R"(one of "ids", "did" and "all")");
  expect(R"({})", R"(one of "ids", "did" and "all")");
  EXPECT_EQ(refusal_of("[7]").code, ec::malformed);
  EXPECT_EQ(refusal_of("").code, ec::malformed);
  EXPECT_EQ(refusal_of(R"({"all":true} x)").code, ec::malformed);
}

TEST(LettersRequest, NullHugeNumbersAndObjectsAreNoValueOfAnyMember) {
  for (const std::string value : {"null", "18446744073709551615", "{}",
                                  R"({"ids":[7]})", R"([{"all":true}])"})
    for (const std::string name : {"ids", "did", "all", "cursor"}) {
      const auto why = refusal_of("{\"" + name + "\":" + value + "}");
      EXPECT_EQ(why.code, ec::invalid_argument) << name << value;
      EXPECT_THAT(why.context, HasSubstr('"' + name + "\" must be")) << value;
    }
  for (const auto* item : {"null", "18446744073709551615", "{}"})
    EXPECT_THAT(refusal_of("{\"ids\":[7," + std::string{item} + "]}").context,
                HasSubstr(R"("ids" must be)"));
}

// limits::dead_letters_order_max, limits::dead_letters_body_bytes_max
TEST(LettersRequest, SoManyIdsAndNotOneMore) {
  const auto body_of = [](size_t count) {
    std::string out = R"({"ids":[)";
    for (size_t i = 0; i < count; ++i)
      out += (i == 0 ? "" : ",") + std::to_string(9'007'199'254'740'991 - i);
    return out + "]}";
  };
  const auto most = body_of(limits::dead_letters_order_max);
  EXPECT_LE(most.size(), limits::dead_letters_body_bytes_max);
  EXPECT_EQ(parse_letters_request(most)->ids.size(),
            limits::dead_letters_order_max);
  EXPECT_EQ(refusal_of(body_of(limits::dead_letters_order_max + 1)).code,
            ec::limit_reached);
}

} // namespace weir::wire
