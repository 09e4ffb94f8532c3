#include "atproto/directory_export.hpp"
#include "atproto/limits.hpp"
#include "tests/support/vectors.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

// The did:plc specification, "Bulk Export": the export of a DID has the same
// content as its look-up.

namespace weir::atproto {

namespace {

namespace json = boost::json;

const auto exported_did = did::trusted("did:plc:ewvi7nxzyoun6zhxrhs64oiz");

constexpr const char* exported_key
  = "did:key:zQ3shXjHeiBuRCKmM36cuYnm7YEMzhGnCmCyW92sRJ9pribSF";

json::object modern_operation(const std::string& pds = "https://pds.test") {
  return {{"type", "plc_operation"},
          {"rotationKeys", json::array{exported_key}},
          {"verificationMethods", json::object{{"atproto", exported_key}}},
          {"alsoKnownAs", json::array{"at://ann.test"}},
          {"services",
           json::object{
             {"atproto_pds", json::object{{"type", "AtprotoPersonalDataServer"},
                                          {"endpoint", pds}}}}},
          {"prev", nullptr},
          {"sig", "x"}};
}

std::string export_line(uint64_t number,
                        const json::object& operation = modern_operation(),
                        const std::string& who = exported_did.str()) {
  return json::serialize(json::object{{"type", "sequenced_op"},
                                      {"operation", operation},
                                      {"did", who},
                                      {"cid", "op" + std::to_string(number)},
                                      {"createdAt", "2026-01-01T00:00:00.000Z"},
                                      {"seq", number}})
         + "\n";
}

ec export_refusal(const std::string& text, uint64_t after = 0) {
  const auto out = parse_export_page(text, after);
  return out ? ec::none : out.error().code;
}

/// The document that a single operation gives.
std::optional<did_document> said_by(const json::object& operation) {
  auto page = parse_export_page(export_line(1, operation), 0);
  return page ? page->at(0).doc : std::nullopt;
}

} // namespace

// protocol-coverage.md 8.3
TEST(DirectoryExportTest, APageIsOperationsWithNumbersThatGrow) {
  const auto page
    = parse_export_page(export_line(3) + export_line(7) + "\n", 2).value();
  ASSERT_EQ(page.size(), 2u);
  EXPECT_EQ(page[0].number, 3u);
  EXPECT_EQ(page[1].number, 7u);
  EXPECT_EQ(page[1].id, "op7");
  EXPECT_EQ(page[1].repo, exported_did);
  ASSERT_TRUE(page[1].doc);
  EXPECT_EQ(page[1].doc->signing_key, std::string{exported_key}.substr(8));
  EXPECT_EQ(page[1].doc->pds, "https://pds.test");
  EXPECT_EQ(page[1].doc->claimed_handle, "ann.test");
  EXPECT_TRUE(parse_export_page("", 9)->empty());
  // The last line ends without a line feed, as the directory sends it.
  auto open = export_line(3);
  open.pop_back();
  EXPECT_EQ(parse_export_page(open, 2)->size(), 1u);
}

TEST(DirectoryExportTest, TheFirstFormOfOperationsSaysTheSame) {
  const json::object first{{"type", "create"},
                           {"signingKey", exported_key},
                           {"recoveryKey", "did:key:z"},
                           {"handle", "Ann.test"},
                           {"service", "pds.test"},
                           {"prev", nullptr},
                           {"sig", "x"}};
  const auto said = said_by(first);
  const auto modern = said_by(modern_operation());
  ASSERT_TRUE(said && modern);
  EXPECT_EQ(said->signing_key, modern->signing_key);
  EXPECT_EQ(said->pds, modern->pds);
  EXPECT_EQ(said->claimed_handle, modern->claimed_handle);
}

// protocol-coverage.md 8.4 and 8.5: an unusable value leaves its field empty,
// as in a document that is looked up.
TEST(DirectoryExportTest, WhatCannotBeUsedIsEmpty) {
  auto x = modern_operation("ftp://pds.test");
  x["verificationMethods"].get_object()["atproto"] = "did:key:z6MkNoSuchKey";
  const auto said = said_by(x);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->signing_key + said->pds, "");
  EXPECT_EQ(said->claimed_handle, "ann.test");
}

TEST(DirectoryExportTest, ATombstoneAndWhatIsNewSayNothing) {
  EXPECT_FALSE(said_by({{"type", "plc_tombstone"}, {"prev", "x"}}));
  EXPECT_FALSE(said_by({{"type", "plc_operation_of_tomorrow"}}));
  // More than a document may have (limits::did_document_entries_max).
  auto x = modern_operation();
  for (int i = 0; i < 100; ++i)
    x["alsoKnownAs"].get_array().push_back("at://x.test");
  EXPECT_FALSE(said_by(x));
}

TEST(DirectoryExportTest, APageThatIsNoneIsRefusedWhole) {
  const auto good = export_line(3);
  for (const auto& bad :
       {std::string{"<html>"}, std::string{"[]\n"}, std::string{"{}\n"},
        good + "garbage\n", good + good.substr(0, good.size() / 2),
        export_line(3, modern_operation(), "did:web:a.test"),
        export_line(3, modern_operation(), "nobody"),
        // The form without numbers, from an older directory.
        R"({"did":"did:plc:ewvi7nxzyoun6zhxrhs64oiz","operation":{},)"
        R"("cid":"x","nullified":false,"createdAt":"x"})"
          + std::string{"\n"}})
    EXPECT_EQ(export_refusal(bad), ec::malformed) << bad;
}

TEST(DirectoryExportTest, NumbersThatDoNotGrowAreRefused) {
  EXPECT_EQ(export_refusal(export_line(3) + export_line(3)), ec::malformed);
  EXPECT_EQ(export_refusal(export_line(7) + export_line(3)), ec::malformed);
  EXPECT_EQ(export_refusal(export_line(3), 2), ec::none);
  EXPECT_EQ(export_refusal(export_line(3), 3), ec::malformed);
}

TEST(DirectoryExportTest, ANumberIsAWholeNumber) {
  for (const auto& number : {json::value(3.0), json::value(3.5),
                             json::value(-3), json::value("3")}) {
    const json::object line{{"seq", number},
                            {"operation", modern_operation()},
                            {"did", exported_did.str()}};
    const auto page = parse_export_page(json::serialize(line) + "\n", 0);
    ASSERT_FALSE(page) << number;
    EXPECT_EQ(page.error().code, ec::malformed);
    EXPECT_EQ(page.error().context,
              "operations of the export have no numbers");
  }
}

// limits::export_page_lines
TEST(DirectoryExportTest, APageHasSoManyOperationsAndNotOneMore) {
  std::string text;
  for (uint64_t i = 1; i <= limits::export_page_lines; ++i)
    text += export_line(i);
  EXPECT_EQ(parse_export_page(text, 0)->size(), limits::export_page_lines);
  text += export_line(limits::export_page_lines + 1);
  EXPECT_EQ(export_refusal(text), ec::malformed);
}

// limits::export_line_bytes_max
TEST(DirectoryExportTest, AnOperationIsSoLargeAndNotOneByteMore) {
  const auto sized = [](size_t bytes) {
    auto x = modern_operation();
    x["sig"] = "";
    x["sig"] = std::string(bytes + 1 - export_line(1, x).size(), 'x');
    return export_line(1, x); // Includes its line feed.
  };
  EXPECT_EQ(export_refusal(sized(limits::export_line_bytes_max)), ec::none);
  EXPECT_EQ(export_refusal(sized(limits::export_line_bytes_max + 1)),
            ec::malformed);
}

// The published logs in both forms, of the same accounts.
TEST(DirectoryExportTest, OperationsOfPublishedLogsHaveDocuments) {
  WEIR_VECTORS(folder, "vectors/did-method-plc/interop_tests/audit_log/valid");
  size_t documents = 0;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    const auto log = json::parse(tests::read_file(entry.path()));
    if (!log.is_array())
      continue;
    for (const auto& x : log.get_array()) {
      const auto* operation = x.get_object().if_contains("operation");
      if (operation == nullptr)
        continue;
      const auto& op = operation->get_object();
      const auto who = json::value_to<std::string>(x.at("did"));
      const auto page = parse_export_page(export_line(1, op, who), 0);
      ASSERT_TRUE(page) << entry.path();
      const auto gone
        = json::value_to<std::string>(op.at("type")) == "plc_tombstone";
      EXPECT_EQ(page->at(0).doc.has_value(), !gone) << entry.path();
      documents += page->at(0).doc.has_value() ? 1 : 0;
    }
  }
  EXPECT_GE(documents, 20u);
}

} // namespace weir::atproto
