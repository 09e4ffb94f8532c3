#include "actors/api/limits.hpp"
#include "actors/api/request_body.hpp"
#include "actors/api/routes.hpp"
#include "tests/support/api_page.hpp"
#include "wire/backup_request.hpp"
#include "wire/letters_request.hpp"
#include "wire/tap.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

// docs/api.md documents everything that exists, and nothing else.

namespace weir::tests {
namespace {

using namespace weir::actors;

/// Names of all members, except those of the record itself.
void collect_names(const boost::json::object& x, std::set<std::string>& out) {
  for (const auto& [name, value] : x) {
    out.emplace(name);
    if (value.is_object() && !(x.contains("cid") && name == "record"))
      collect_names(value.as_object(), out);
  }
}

std::string heading(const route& x) {
  return std::string{x.method} + ' ' + std::string{x.pattern};
}

bool has_row(const std::string& section, std::string_view name) {
  return section.find("| `" + std::string{name} + "` |") != std::string::npos;
}

/// Names in the first cells of the section's tables, and the text after them up
/// to a colon or comma.
std::map<std::string, std::string> rows_of(const std::string& section) {
  const std::regex row{"\\| `([^`]+)` \\| ([^:,|]*[^:,| ])[^|]*\\|\n"};
  std::map<std::string, std::string> out;
  for (std::sregex_iterator i{section.begin(), section.end(), row}, end;
       i != end; ++i)
    out[(*i)[1]] = (*i)[2];
  return out;
}

/// The route's refusal of a body with this member; empty: it accepts the
/// member.
std::string refusal_of(const route& to, std::string_view member) {
  const auto ledger = std::make_shared<byte_ledger>();
  const auto sink = make_body(to, ledger, limits::bulk_body_bytes_max);
  const auto text = "{\"" + std::string{member} + "\":0}";
  sink->put(as_bytes(text));
  if (auto* const repos = dynamic_cast<repos_body*>(sink.get()))
    return repos->finish().error().context;
  const auto& body = dynamic_cast<const text_body&>(*sink);
  return to.what == action::backup
           ? wire::parse_backup_request(body.text()).error().context
           : wire::parse_letters_request(body.text()).error().context;
}

/// The text in backquotes in the first cells of the table of event fields.
std::set<std::string> event_rows() {
  const auto page = api_page();
  const auto begin = page.find("## Events");
  std::istringstream lines{page.substr(begin, page.find("\n### ", begin) - begin)};
  std::set<std::string> out;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `"))
      continue;
    std::istringstream cell{line.substr(2, line.find(" |", 2) - 2)};
    for (std::string name; std::getline(cell, name, '`');)
      if (std::getline(cell, name, '`'))
        out.insert(name);
  }
  return out;
}

/// "status name" of all errors in these sources, in which each is written as a
/// status and a name.
std::set<std::string> errors_of_code() {
  const std::regex pair{
    "\\b([45][0-9][0-9])(?:,|:\\s*return)\\s*\"([A-Z][A-Za-z]+)\""};
  std::set<std::string> out;
  for (const auto* folder : {"actors/api", "net", "wire"})
    for (const auto& each : std::filesystem::recursive_directory_iterator{
           data_path(std::string{"../../"} + folder)}) {
      // Phrases of a status line are not names of errors.
      if ((each.path().extension() != ".cpp"
           && each.path().extension() != ".hpp")
          || each.path().filename() == "http_types.cpp")
        continue;
      const auto text = read_file(each.path());
      for (std::sregex_iterator i{text.begin(), text.end(), pair}, end; i != end;
           ++i)
        out.insert((*i)[1].str() + ' ' + (*i)[2].str());
    }
  return out;
}

/// The same for the page's table of errors.
std::set<std::string> errors_of_page() {
  const auto page = api_page();
  const auto begin = page.find("## Errors");
  const auto section = page.substr(begin, page.find("\n## ", begin) - begin);
  const std::regex row{"\n\\| ([0-9]+) \\| `([A-Za-z]+)` \\|"};
  std::set<std::string> out;
  for (std::sregex_iterator i{section.begin(), section.end(), row}, end;
       i != end; ++i)
    out.insert((*i)[1].str() + ' ' + (*i)[2].str());
  return out;
}

/// Names in the text that follow the status of an answer: 404 (`NotFound`).
std::set<std::string> errors_of_text() {
  const auto page = api_page();
  const std::regex named{"\\b([45][0-9][0-9])[\\s,(]+`([A-Z][A-Za-z]+)`"};
  std::set<std::string> out;
  for (std::sregex_iterator i{page.begin(), page.end(), named}, end; i != end;
       ++i)
    out.insert((*i)[1].str() + ' ' + (*i)[2].str());
  return out;
}

} // namespace

TEST(ApiPageTest, EachErrorHasARowWithItsStatusAndNoOther) {
  const auto known = errors_of_code();
  EXPECT_GE(known.size(), 20u);
  EXPECT_TRUE(known.contains("408 RequestTimeout"));
  EXPECT_TRUE(known.contains("500 InternalServerError"));
  EXPECT_EQ(errors_of_page(), known);
  for (const auto& x : errors_of_text())
    EXPECT_TRUE(known.contains(x)) << x;
}

TEST(ApiPageTest, EachRouteAndEachParameterHasAnEntry) {
  const auto sections = api_sections();
  for (const auto& x : all_routes()) {
    const auto found = sections.find(heading(x));
    ASSERT_NE(found, sections.end()) << heading(x);
    for (const auto name : x.query)
      EXPECT_TRUE(has_row(found->second, name)) << heading(x) << ": " << name;
  }
}

TEST(ApiPageTest, EachMemberOfABodyHasARowThatSaysWhetherItMustBeThere) {
  const auto sections = api_sections();
  size_t bodies = 0;
  for (const auto& x : all_routes()) {
    EXPECT_EQ(x.body.empty(), x.body_max == 0) << heading(x);
    bodies += x.body.empty() ? 0 : 1;
    const auto rows = rows_of(sections.at(heading(x)));
    size_t known = 0;
    for (const auto& member : x.body) {
      const auto row = rows.find(std::string{member.name});
      ASSERT_NE(row, rows.end()) << heading(x) << ": " << member.name;
      EXPECT_EQ(row->second, wire::to_string(member.need))
        << heading(x) << ": " << member.name;
      ++known;
    }
    known += x.query.size();
    EXPECT_EQ(rows.size(), known) << heading(x) << " has a row of nothing";
  }
  EXPECT_GE(bodies, 5u);
}

// The value is wrong for every member: members in the table are refused for
// that reason, and no others are.
TEST(ApiPageTest, ABodyTakesTheMembersOfTheTableAndNoOther) {
  for (const auto& x : all_routes()) {
    if (x.body.empty())
      continue;
    for (const auto& member : x.body) {
      const auto name = '"' + std::string{member.name} + '"';
      EXPECT_TRUE(refusal_of(x, member.name).starts_with(name + " must be "))
        << heading(x) << name;
    }
    for (const auto& other : all_routes())
      for (const auto& member : other.body) {
        const auto known = std::ranges::find(x.body, member.name,
                                             &wire::body_member::name)
                           != x.body.end();
        EXPECT_EQ(refusal_of(x, member.name).starts_with("there is no member "),
                  !known)
          << heading(x) << ": " << member.name;
      }
    const auto& first = x.body.front().name;
    EXPECT_EQ(refusal_of(x, std::string{first} + "x"),
              "there is no member \"" + std::string{first}
                + "x\" here; did you mean \"" + std::string{first} + "\"?");
  }
}

TEST(ApiPageTest, EachEntryIsARoute) {
  std::set<std::string> known;
  for (const auto& x : all_routes())
    known.insert(heading(x));
  for (const auto& [name, text] : api_sections())
    EXPECT_TRUE(known.contains(name)) << name;
}

TEST(ApiPageTest, EachFieldOfAnEventHasARowAndNoOther) {
  const std::string did = "did:plc:" + std::string(24, 'a');
  const auto body = as_bytes(std::string_view{"\xa1\x61\x61\x01", 4});
  const auto cid = atproto::cid::of_dag_cbor(body);
  std::string record;
  wire::append_tap_record({1, true, did, atproto::tid{1}, "a.b.c", "x",
                           atproto::op_action::create, cid, body},
                          record);
  std::string identity;
  wire::append_tap_identity(2, did, {"alice.test", true, "active"}, identity);
  std::set<std::string> names;
  for (const auto& text : {record, identity})
    collect_names(boost::json::parse(text).as_object(), names);
  EXPECT_GE(names.size(), 13u);
  EXPECT_EQ(event_rows(), names);
}

} // namespace weir::tests
