#include "atproto/base_encodings.hpp"
#include "atproto/dag_cbor.hpp"
#include "json_vectors.hpp"
#include "tests/support/foreign_forms.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>
#include <set>

// protocol-coverage.md section 6 against the DASL strictness suite and IPLD's
// fixtures.

namespace weir::atproto::cbor {

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using tests::read_json;
using tests::text_of;

constexpr rules with_floats{32, true, true};

/// Cases of DRISL's profile; the others belong to other profiles.
bool in_profile(const json::value& test) {
  for (const auto& tag : test.at("tags").as_array())
    if (tag == "basic" || tag == "dag-cbor" || tag == "dasl-cid")
      return true;
  return false;
}

/// DASL refuses these links while decoding. Here any well-formed CID inside a
/// record is kept, so that one odd link does not cost the record, and refused
/// where a link must be followed (protocol-coverage.md 7).
const std::set<std::string> kept_links{
  "CIDv0",
  "empty CID",
  "short hash digest",
  "long hash digest",
  "CIDv1 that isn't raw or cbor",
  "disallowed hash type (SHA-1)",
};

void expect_kept_but_not_blessed(const bytes& input) {
  EXPECT_TRUE(validate(input));
  const auto link = reader{input}.read_link();
  ASSERT_TRUE(link);
  EXPECT_FALSE(link->is_dag_cbor());
  EXPECT_FALSE(link->is_raw());
}

/// atproto forbids what DRISL allows (protocol-coverage.md 6.7).
void expect_round_trip(const bytes& input) {
  const bool is_float = input[0] == 0xfb;
  EXPECT_EQ(validate(input).has_value(), !is_float);
  EXPECT_TRUE(validate(input, with_floats));
  reader in{input};
  writer out;
  const auto what = tests::peek(in).value();
  if (what == tests::cbor_kind::floating)
    out.put_double(tests::read_double(in));
  else if (what == tests::cbor_kind::text_string)
    out.put_text(in.read_text().value());
  else if (what == tests::cbor_kind::link)
    out.put_link(in.read_link().value());
  else
    out.put_raw(in.skip().value());
  EXPECT_EQ(out.data(), input);
}

void run_case(const json::value& test) {
  const auto type = text_of(test, "type");
  const auto input = tests::decode_hex(text_of(test, "data")).value();
  if (type == "roundtrip")
    expect_round_trip(input);
  else if (kept_links.contains(text_of(test, "name")))
    expect_kept_but_not_blessed(input);
  else // Includes `invalid_out`: no call of the writer makes such bytes.
    EXPECT_FALSE(validate(input, with_floats));
}

/// Writes the same item again while walking over the reader.
void copy_item(reader& in, writer& out) {
  const auto what = tests::peek(in).value();
  size_t items = 0;
  if (what == tests::cbor_kind::array)
    out.begin_array(items = in.read_array().value());
  else if (what == tests::cbor_kind::map)
    out.begin_map(items = in.read_map().value());
  else if (what == tests::cbor_kind::text_string)
    out.put_text(in.read_text().value());
  else if (what == tests::cbor_kind::byte_string)
    out.put_bytes(in.read_bytes().value());
  else if (what == tests::cbor_kind::link)
    out.put_link(in.read_link().value());
  else if (what == tests::cbor_kind::floating)
    out.put_double(tests::read_double(in));
  else if (auto n = reader{in.rest()}.read_int()) {
    out.put_int(*n);
    EXPECT_TRUE(in.skip());
  } else // Simple values, and integers beyond int64.
    out.put_raw(in.skip().value());
  for (; items > 0; --items) {
    if (what == tests::cbor_kind::map)
      out.put_text(in.read_text().value());
    copy_item(in, out);
  }
}

} // namespace

// protocol-coverage.md 6.1, 6.2, 6.3, 6.5, 6.6, 11.13
TEST(DaslVectorsTest, EveryCaseOfTheProfileHolds) {
  WEIR_VECTORS(folder, "vectors/dasl-testing/fixtures/cbor");
  std::map<std::string, int> cases;
  int files = 0;
  for (const auto& entry : fs::directory_iterator{folder}) {
    ++files;
    const auto tests_of_file = read_json(entry.path());
    for (const auto& test : tests_of_file.as_array()) {
      SCOPED_TRACE(entry.path().filename().string() + ": "
                   + text_of(test, "name"));
      if (!in_profile(test)) {
        ++cases["of other profiles"];
        continue;
      }
      ++cases[text_of(test, "type")];
      run_case(test);
    }
  }
  EXPECT_EQ(files, 11);
  EXPECT_EQ(cases["roundtrip"], 23);
  EXPECT_EQ(cases["invalid_in"], 60);
  EXPECT_EQ(cases["invalid_out"], 9);
  EXPECT_EQ(cases["of other profiles"], 13);
}

// protocol-coverage.md 6.10
TEST(IpldVectorsTest, EveryBlockIsAcceptedNamedAndWrittenBack) {
  WEIR_VECTORS(folder, "vectors/ipld-codec-fixtures/fixtures");
  int blocks = 0;
  int with_float = 0;
  for (const auto& entry : fs::recursive_directory_iterator{folder}) {
    if (entry.path().extension() != ".dag-cbor")
      continue;
    ++blocks;
    SCOPED_TRACE(entry.path().parent_path().filename().string());
    const auto text = tests::read_file(entry.path());
    const auto block = as_bytes(text);
    EXPECT_EQ(cid::of_dag_cbor(block).to_text(), entry.path().stem().string());
    const auto verdict = validate(block, with_floats);
    ASSERT_TRUE(verdict) << verdict.error().context;
    if (const auto strict = validate(block); !strict) {
      ++with_float; // As atproto data it is refused only for this reason.
      EXPECT_NE(strict.error().context.find("float"), std::string::npos);
    }
    reader in{block};
    writer out;
    copy_item(in, out);
    EXPECT_TRUE(in.at_end());
    EXPECT_EQ(as_text(out.data()), text);
  }
  EXPECT_EQ(blocks, 128);
  EXPECT_EQ(with_float, 28);
}

// protocol-coverage.md 6.3
TEST(IpldVectorsTest, NegativeCasesAreRefused) {
  WEIR_VECTORS(folder,
               "vectors/ipld-codec-fixtures/negative-fixtures/dag-cbor");
  int cases = 0;
  for (const auto& entry : fs::recursive_directory_iterator{folder}) {
    if (entry.path().extension() != ".json")
      continue;
    const auto tests_of_file = read_json(entry.path());
    for (const auto& test : tests_of_file.as_array()) {
      ++cases;
      EXPECT_FALSE(
        validate(tests::decode_hex(text_of(test, "hex")).value(), with_floats))
        << text_of(test, "name");
    }
  }
  EXPECT_EQ(cases, 1);
}

} // namespace weir::atproto::cbor
