#include "tests/support/api_page.hpp"
#include "tests/system/complete_network.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

// The examples of docs/api.md, as they stand there, against a node.

namespace weir::tests {

namespace {

/// What follows each "```sh" up to "```".
std::vector<std::string> examples_in(const std::string& section) {
  constexpr std::string_view begin = "```sh\n";
  std::vector<std::string> out;
  for (auto at = section.find(begin); at != std::string::npos;
       at = section.find(begin, at)) {
    at += begin.size();
    out.push_back(section.substr(at, section.find("```", at) - at));
  }
  return out;
}

struct outcome {
  int status = -1;
  std::string output;
};

/// Of a shell in which curl fails when the answer is an error.
outcome run_in_shell(const std::string& commands) {
  const auto script = "curl() { command curl -fsS \"$@\"; }\n" + commands;
  auto* pipe = ::popen(("sh -euc '" + [&] {
                         std::string quoted;
                         for (const auto c : script)
                           quoted += c == '\'' ? std::string{"'\\''"}
                                               : std::string(1, c);
                         return quoted;
                       }() + "' 2>&1")
                         .c_str(),
                       "r");
  outcome out;
  std::array<char, 4096> piece{};
  for (size_t n = 0; (n = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;)
    out.output.append(piece.data(), n);
  out.status = ::pclose(pipe);
  return out;
}

} // namespace

TEST(ApiPageExamplesTest, EachIsAnsweredAsItSays) {
  complete_network net{120};
  ASSERT_TRUE(net.await_whole());
  const auto variables = "DATA=" + net.node().data_url()
                         + " OPERATIONS=" + net.node().operations_url()
                         + " DID=" + net.did_of(3).str() + "\n";
  size_t run = 0;
  for (const auto& [route, text] : api_sections()) {
    const auto examples = examples_in(text);
    EXPECT_TRUE(!examples.empty() || route == "GET /channel") << route;
    for (const auto& x : examples) {
      const auto got = run_in_shell(variables + x);
      EXPECT_EQ(got.status, 0) << route << "\n" << x << got.output;
      EXPECT_NE(got.output, "") << route;
      ++run;
    }
  }
  EXPECT_GE(run, 20u);
}

} // namespace weir::tests
