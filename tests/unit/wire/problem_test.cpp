#include "wire/problem.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

// api.md, Errors: every error is {"error": Name, "message": sentence}.
namespace weir::tests {

namespace {

boost::json::object body(std::string_view name, std::string_view message) {
  std::string out;
  wire::append_problem(name, message, out);
  return boost::json::parse(out).as_object();
}

} // namespace

TEST(Problem, HasANameAndASentence) {
  const auto x = body("InvalidRequest", "the body is \"empty\"\n");
  EXPECT_EQ(x.size(), 2u);
  EXPECT_EQ(x.at("error").as_string(), "InvalidRequest");
  EXPECT_EQ(x.at("message").as_string(), "the body is \"empty\"\n");
}

TEST(Problem, ShowsForeignBytesAsQuestionMarks) {
  EXPECT_EQ(body("NotFound", "no \xff\xfe here").at("message").as_string(),
            "no ?? here");
  EXPECT_EQ(body("NotFound", "caf\xc3\xa9").at("message").as_string(),
            "caf\xc3\xa9");
}

TEST(Problem, OfTheCallerIsAFourHundred) {
  EXPECT_EQ(wire::kind_of(ec::malformed).status, 400);
  EXPECT_EQ(wire::kind_of(ec::invalid_argument).status, 400);
  EXPECT_EQ(wire::kind_of(ec::not_found).status, 404);
  EXPECT_EQ(wire::kind_of(ec::limit_reached).status, 413);
  EXPECT_EQ(wire::kind_of(ec::rate_limited).status, 429);
}

TEST(Problem, OfOursIsAFiveHundred) {
  EXPECT_EQ(wire::kind_of(ec::storage_failure).status, 500);
  EXPECT_EQ(wire::kind_of(ec::storage_failure).name, "InternalServerError");
  // No route answers with another server's error: that would be a bug.
  EXPECT_EQ(wire::kind_of(ec::unreachable).status, 500);
  EXPECT_EQ(wire::kind_of(ec::chain_broken).status, 500);
  EXPECT_EQ(wire::kind_of(ec::disk_full).status, 503);
}

} // namespace weir::tests
