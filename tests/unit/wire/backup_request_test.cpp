#include "wire/backup_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::wire {

namespace {

using testing::HasSubstr;

error refusal_of_backup(const std::string& body) {
  const auto x = parse_backup_request(body);
  EXPECT_FALSE(x) << body;
  return x ? error{} : x.error();
}

} // namespace

TEST(BackupRequest, NamesADirectory) {
  EXPECT_EQ(parse_backup_request(R"({"directory":"/backup/weir"})").value(),
            "/backup/weir");
}

TEST(BackupRequest, WhatIsAnythingElseIsRefusedAndNamed) {
  const auto expect = [](const std::string& body, const char* words) {
    const auto why = refusal_of_backup(body);
    EXPECT_EQ(why.code, ec::invalid_argument) << body;
    EXPECT_THAT(why.context, HasSubstr(words)) << body;
  };
  expect(R"({"directry":"/x"})", R"(did you mean "directory")");
  expect(R"({"directory":"/x","other":1})", R"(no member "other")");
  expect(R"({"directory":"/x","directory":"/y"})", "is there twice");
  for (const auto* body :
       {"{}", R"({"directory":7})", R"({"directory":null})",
        R"({"directory":["/x"]})", R"({"directory":{"directory":"/x"}})",
        R"({"directory":"backup"})", R"({"directory":""})",
        R"({"directory":"/x\u0000y"})"})
    expect(body, "must be there, and an absolute path");
  EXPECT_EQ(refusal_of_backup("[]").code, ec::malformed);
  EXPECT_EQ(refusal_of_backup("").code, ec::malformed);
}

} // namespace weir::wire
