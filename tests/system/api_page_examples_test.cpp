#include "tests/support/api_page.hpp"
#include "tests/system/complete_network.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <map>
#include <regex>
#include <set>
#include <sstream>

// Runs the examples of docs/api.md unchanged against a node.

namespace weir::tests {

namespace {

/// The text of each block from "```sh" to "```".
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

/// Runs commands in a shell in which curl fails when the answer is an error.
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

/// All members, except those of records, which belong to their authors.
void collect_members(const boost::json::value& x, std::set<std::string>& out) {
  if (const auto* list = x.if_array())
    for (const auto& each : *list)
      collect_members(each, out);
  if (const auto* object = x.if_object())
    for (const auto& [name, value] : *object) {
      out.emplace(name);
      if (name != "record")
        collect_members(value, out);
    }
}

/// The members of a JSON answer; empty when it is not JSON.
std::set<std::string> members_of(const std::string& answer) {
  boost::system::error_code failed;
  std::set<std::string> out;
  const auto parsed = boost::json::parse(answer, failed);
  if (!failed)
    collect_members(parsed, out);
  return out;
}

/// The text in backquotes, without "GET " and the like, and the members of JSON
/// in the text.
std::set<std::string> names_in(const std::string& text) {
  static const std::regex member{"\"([a-z_]+)\":"};
  std::istringstream lines{text};
  std::set<std::string> out;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream pieces{line};
    for (std::string name; std::getline(pieces, name, '`');)
      if (std::getline(pieces, name, '`'))
        out.insert(name.substr(name.find(' ') == std::string::npos
                                 ? 0
                                 : name.find(' ') + 1));
  }
  for (std::sregex_iterator i{text.begin(), text.end(), member}, end; i != end;
       ++i)
    out.insert((*i)[1]);
  return out;
}

/// The names in the section of a route and in the sections and pages that it
/// refers to.
std::set<std::string> names_of(const std::map<std::string, std::string>& sections,
                               const std::string& route) {
  const auto& text = sections.at(route);
  const auto own = names_in(text);
  auto out = own;
  for (const auto& [other, theirs] : sections)
    if (own.contains(other.substr(other.find(' ') + 1)))
      out.merge(names_in(theirs));
  if (text.find("](#words)") != std::string::npos) {
    const auto page = api_page();
    const auto begin = page.find("\n## Words");
    out.merge(names_in(page.substr(begin, page.find("\n## ", begin + 1) - begin)));
  }
  if (text.find("](completeness.md)") != std::string::npos)
    out.merge(names_in(read_file(data_path("../../docs/completeness.md"))));
  return out;
}

} // namespace

TEST(ApiPageExamplesTest, EachIsAnsweredAsItSays) {
  const temp_dir dir;
  complete_network net{120};
  ASSERT_TRUE(net.await_whole());
  const auto variables = "DATA=" + net.node().data_url()
                         + " OPERATIONS=" + net.node().operations_url()
                         + " DID=" + net.did_of(3).str()
                         + " BACKUPS=" + dir.at("backups") + "\n";
  const auto sections = api_sections();
  size_t run = 0;
  size_t members = 0;
  for (const auto& [route, text] : sections) {
    const auto examples = examples_in(text);
    EXPECT_TRUE(!examples.empty() || route == "GET /channel") << route;
    for (const auto& x : examples) {
      const auto got = run_in_shell(variables + x);
      EXPECT_EQ(got.status, 0) << route << "\n" << x << got.output;
      EXPECT_NE(got.output, "") << route;
      const auto known = names_of(sections, route);
      for (const auto& name : members_of(got.output)) {
        EXPECT_TRUE(known.contains(name)) << route << " does not name " << name;
        ++members;
      }
      ++run;
    }
  }
  EXPECT_GE(run, 20u);
  EXPECT_GE(members, 80u);
}

} // namespace weir::tests
