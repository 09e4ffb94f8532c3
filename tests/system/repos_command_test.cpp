#include "tests/support/temp_dir.hpp"
#include "tests/system/api_node.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <fstream>
#include <sys/stat.h>

// `weir repos`: every request of the HTTP API about repos has a command
// (SYNC-10).

namespace weir::tests {

namespace {

constexpr const char* followed = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

class ReposCommandTest : public testing::Test {
protected:
  ReposCommandTest() {
    std::ofstream{file} << api_node::password;
    ::chmod(file.c_str(), 0600);
  }

  finished run(std::vector<std::string> words, bool with_password = true) {
    words.insert(words.begin(), "repos");
    words.insert(words.end(),
                 {"--node", "http://127.0.0.1:" + std::to_string(node.data)});
    if (with_password)
      words.insert(words.end(), {"--admin-password-file", file});
    return run_program(std::move(words));
  }

  temp_dir dir;
  const std::string file = dir.at("password");
  api_node node{true,
                {"--plc-url", "http://127.0.0.1:9",
                 "--allow-private-addresses"}};
};

} // namespace

TEST_F(ReposCommandTest, WhatIsSaidByHandIsDone) {
  EXPECT_EQ(run({"add", followed, "--collection", "app.test.*"}).output,
            "{\"queued\":1}\n");
  const auto shown = run({"show", followed});
  EXPECT_EQ(shown.status, 0) << shown.errors;
  const auto x = boost::json::parse(shown.output);
  EXPECT_EQ(x.at("did").as_string(), followed);
  EXPECT_FALSE(x.at("complete").as_bool());
  const auto list = boost::json::parse(run({"list"}).output);
  EXPECT_EQ(list.at("repos").at(0).at("collections").at(0).as_string(),
            "app.test.*");
  EXPECT_EQ(run({"errors"}).status, 0);
  EXPECT_EQ(run({"resync", followed}).output, "{\"queued\":1}\n");
  EXPECT_EQ(run({"remove", followed}).output, "{\"removed\":1}\n");
}

TEST_F(ReposCommandTest, WhatFailsEndsWithOneAndAReason) {
  const auto refused = run({"add", followed}, false);
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.errors.find("401"), std::string::npos) << refused.errors;
  EXPECT_NE(refused.errors.find("give --admin-password-file FILE"),
            std::string::npos)
    << refused.errors;
  const auto unknown = run({"show", followed});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_NE(unknown.errors.find("is not tracked"), std::string::npos);
  const auto bad = run({"show", "../config"});
  EXPECT_EQ(bad.status, 1);
  EXPECT_NE(bad.errors.find("no DID"), std::string::npos);
  const auto nobody = run_program(
    {"repos", "list", "--node", "http://127.0.0.1:9"});
  EXPECT_EQ(nobody.status, 1);
  EXPECT_NE(nobody.errors.find("does not answer"), std::string::npos);
}

} // namespace weir::tests
