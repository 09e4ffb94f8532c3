#include "atproto/limits.hpp"
#include "wire/limits.hpp"
#include "wire/tap.hpp"

#include <gtest/gtest.h>

// api.md, Acks.
namespace weir::tests {

namespace {

/// The id, 0 for an ignored message, or minus the error's code.
int64_t ack(std::string_view text) {
  const auto x = wire::parse_ack(text);
  if (!x)
    return -static_cast<int64_t>(x.error().code);
  return static_cast<int64_t>(x->value_or(0));
}

constexpr auto malformed = -static_cast<int64_t>(ec::malformed);
constexpr auto too_long = -static_cast<int64_t>(ec::limit_reached);

} // namespace

TEST(TapAck, CarriesAnId) {
  EXPECT_EQ(ack(R"({"type":"ack","id":7})"), 7);
  EXPECT_EQ(ack(R"(  {"id" : 9007199254740991, "type":"ack"} )"),
            limits::safe_integer_max);
  EXPECT_EQ(ack(R"({"type":"ack","id":7,"more":{"a":[1,2]}})"), 7);
}

TEST(TapAck, MaySpellItsIdInOtherWays) {
  EXPECT_EQ(ack(R"({"type":"ack","id":7.0})"), 7);
  EXPECT_EQ(ack(R"({"type":"ack","id":1e3})"), 1000);
}

TEST(TapAck, WithABadIdIsRefused) {
  for (const auto* id : {"0", "-1", "9007199254740992", "1.5", "\"7\"", "null",
                         "true", "[7]", "1e400", "18446744073709551616"})
    EXPECT_EQ(ack(R"({"type":"ack","id":)" + std::string{id} + "}"), malformed)
      << id;
  EXPECT_EQ(ack(R"({"type":"ack"})"), malformed);
}

// It would not be clear which one counts.
TEST(TapAck, WithAMemberTwiceIsRefused) {
  for (const auto* text :
       {R"({"type":"ack","id":5,"id":6})", R"({"type":"ack","id":5,"id":5})",
        R"({"type":"ack","id":5,"\u0069d":6})", R"({"id":null,"type":"ack","id":5})",
        R"({"type":"ack","type":"ack","id":5})",
        R"({"type":"hello","type":"ack","id":5})",
        R"({"type":"ack","type":7,"id":5})"})
    EXPECT_EQ(ack(text), malformed) << text;
  EXPECT_EQ(ack(R"({"type":"ack","id":7,"more":{"id":1,"id":2,"type":"x"}})"),
            7);
  EXPECT_EQ(ack(R"({"type":"ack","id":7,"more":[{"id":1}],"more":"id"})"), 7);
}

TEST(TapAck, OfAnotherTypeIsIgnored) {
  EXPECT_EQ(ack(R"({"type":"hello","id":7})"), 0);
  EXPECT_EQ(ack(R"({"type":""})"), 0);
}

TEST(TapAck, ThatIsNoMessageIsRefused) {
  for (const auto* text : {"", "ack", "7", "[]", "{}", R"({"type":7})", "\xff",
                           R"({"type":"ack","id":7)", "{\"type\":\"ack\"}}",
                           R"({"type":"ack","id":7}{"type":"ack","id":8})"})
    EXPECT_EQ(ack(text), malformed) << text;
}

TEST(TapAck, IsSoLongAndNotLonger) {
  std::string text = R"({"type":"ack","id":7})";
  text.resize(limits::channel_message_bytes_max, ' ');
  EXPECT_EQ(ack(text), 7);
  EXPECT_EQ(ack(text + ' '), too_long);
}

TEST(TapAck, WithManyMembersNeedsNoMoreThanItsText) {
  std::string text = R"({"type":"ack","id":7)";
  for (int i = 0; i < 400; ++i)
    text += ",\"" + std::to_string(i) + "\":0";
  EXPECT_EQ(ack(text + "}"), 7);
}

TEST(AccountFact, IsReadBack) {
  const auto x = wire::parse_account_fact(as_bytes(
    R"({"handle":"ann.test","is_active":false,"status":"takendown"})"));
  ASSERT_TRUE(x);
  EXPECT_EQ(x->handle, "ann.test");
  EXPECT_FALSE(x->active);
  EXPECT_EQ(x->status, "takendown");
}

TEST(AccountFact, WithoutAllItsFieldsIsRefused) {
  for (const auto* text :
       {"", "{}", R"({"handle":"a.test","is_active":true})",
        R"({"handle":7,"is_active":true,"status":"active"})",
        R"({"handle":"a.test","is_active":"yes","status":"active"})",
        R"({"handle":"a.test","is_active":true,"status":null})"})
    EXPECT_EQ(wire::parse_account_fact(as_bytes(text)).error().code,
              ec::malformed);
}

} // namespace weir::tests
