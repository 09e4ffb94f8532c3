#include "atproto/base_encodings.hpp"
#include "atproto/dag_cbor.hpp"
#include "atproto/record_json.hpp"
#include "json_vectors.hpp"
#include "tests/unit/atproto/json_to_cbor.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

// protocol-coverage.md 6.11 and 6.12 against the data-model fixtures. The same
// files exist in three places, two of which are older copies.

namespace weir::atproto {

namespace {

namespace json = boost::json;
using tests::read_json;
using tests::text_of;

/// JSON gives the exact bytes, the bytes the CID, and the bytes the same JSON.
void run_fixtures(const std::filesystem::path& path) {
  const auto cases = read_json(path);
  EXPECT_EQ(cases.as_array().size(), 3u) << path;
  for (const auto& test : cases.as_array()) {
    const auto block = decode_base64(text_of(test, "cbor_base64")).value();
    EXPECT_TRUE(cbor::validate(block));
    EXPECT_EQ(cid::of_dag_cbor(block).to_text(), text_of(test, "cid"));
    EXPECT_EQ(json_to_cbor(test.at("json")), block);
    std::string text;
    EXPECT_EQ(append_record_json(block, text).value(), json_hazard::none);
    EXPECT_EQ(json::parse(text), test.at("json"));
  }
}

void run_valid(const std::filesystem::path& path) {
  const auto cases = read_json(path);
  EXPECT_EQ(cases.as_array().size(), 5u) << path;
  for (const auto& test : cases.as_array()) {
    SCOPED_TRACE(text_of(test, "note"));
    const auto block = json_to_cbor(test.at("json"));
    std::string text;
    const auto hazard = append_record_json(block, text);
    ASSERT_TRUE(hazard) << hazard.error().context;
    EXPECT_EQ(*hazard, json_hazard::none);
    EXPECT_EQ(json_to_cbor(json::parse(text)), block);
  }
}

void run_invalid(const std::filesystem::path& path) {
  const auto cases = read_json(path);
  EXPECT_EQ(cases.as_array().size(), 12u) << path;
  for (const auto& test : cases.as_array()) {
    SCOPED_TRACE(text_of(test, "note"));
    std::string text;
    const auto hazard = append_record_json(json_to_cbor(test.at("json")), text);
    if (text_of(test, "note") == "top-level not an object")
      EXPECT_FALSE(hazard);
    else
      EXPECT_NE(hazard.value(), json_hazard::none);
    EXPECT_TRUE(text.empty());
  }
}

} // namespace

TEST(DataModelVectorsTest, Fixtures) {
  WEIR_VECTORS(folder, "vectors");
  run_fixtures(folder
               / "atproto-interop-tests/data-model/data-model-fixtures.json");
  run_fixtures(folder
               / "indigo/atproto/atdata/testdata/"
                 "data-model-fixtures.json");
  run_fixtures(folder
               / "atproto/packages/lex/lex-cbor/tests/"
                 "data-model-fixtures.json");
}

TEST(DataModelVectorsTest, ValidData) {
  WEIR_VECTORS(folder, "vectors");
  run_valid(folder / "atproto-interop-tests/data-model/data-model-valid.json");
  run_valid(folder / "indigo/atproto/atdata/testdata/data-model-valid.json");
}

// protocol-coverage.md 6.11
TEST(DataModelVectorsTest, InvalidData) {
  WEIR_VECTORS(folder, "vectors");
  run_invalid(folder
              / "atproto-interop-tests/data-model/data-model-invalid.json");
  run_invalid(folder
              / "indigo/atproto/atdata/testdata/data-model-invalid.json");
}

TEST(DataModelVectorsTest, RealPostsSurviveTheWayToJsonAndBack) {
  WEIR_VECTORS(folder, "vectors/indigo");
  for (const auto* name : {"atproto/atdata/testdata/feedpost_record.cbor",
                           "testing/testdata/feedpost_record.cbor",
                           "testing/testdata/post_richtext_link.cbor"}) {
    SCOPED_TRACE(name);
    const auto record = tests::read_file(folder / name);
    std::string text;
    const auto hazard = append_record_json(as_bytes(record), text);
    ASSERT_TRUE(hazard) << hazard.error().context;
    ASSERT_EQ(*hazard, json_hazard::none);
    const auto back = json_to_cbor(json::parse(text));
    EXPECT_EQ(as_text(back), record);
  }
}

} // namespace weir::atproto
