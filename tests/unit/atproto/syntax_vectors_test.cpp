#include "atproto/cid.hpp"
#include "atproto/identifiers.hpp"
#include "tests/support/vectors.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

// protocol-coverage.md section 0 against the syntax files of
// atproto-interop-tests.

namespace weir::atproto {

namespace {

using exceptions = std::set<std::string>;
using check = std::function<bool(std::string_view)>;

/// Every line of `<name>.txt` is `good`, except the given ones.
void expect_lines(std::string_view name, size_t count, bool good, check valid,
                  const exceptions& decided_otherwise = {}) {
  const auto path = tests::shared_path("vectors/atproto-interop-tests/syntax")
                    / (std::string{name} + ".txt");
  exceptions found;
  const auto lines = tests::read_vector_lines(path);
  for (const auto& line : lines) {
    const bool exception = decided_otherwise.contains(line);
    if (exception)
      found.insert(line);
    EXPECT_EQ(valid(line), good != exception) << name << ": " << line;
  }
  EXPECT_EQ(lines.size(), count) << name;
  EXPECT_EQ(found, decided_otherwise) << name;
}

} // namespace

// protocol-coverage.md 0.2
TEST(SyntaxVectorsTest, Dids) {
  WEIR_VECTORS(folder, "vectors/atproto-interop-tests/syntax");
  expect_lines("did_syntax_valid", 24, true, valid_did);
  expect_lines("did_syntax_invalid", 18, false, valid_did);
}

// protocol-coverage.md 0.6
TEST(SyntaxVectorsTest, Handles) {
  WEIR_VECTORS(folder, "vectors/atproto-interop-tests/syntax");
  // The files only check the form; protocol-coverage.md 0 denies these domains.
  expect_lines(
    "handle_syntax_valid", 71, true, valid_handle,
    {"SRI-NIC.ARPA", "laptop.local", "laptop.arpa", "expyuzz4wqqyqhjn.onion",
     "friend.expyuzz4wqqyqhjn.onion",
     "g2zyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.onion",
     "friend.g2zyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.onion",
     "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.onion",
     "friend.2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.onion"});
  expect_lines("handle_syntax_invalid", 48, false, valid_handle);
}

// protocol-coverage.md 0.3
TEST(SyntaxVectorsTest, Nsids) {
  WEIR_VECTORS(folder, "vectors/atproto-interop-tests/syntax");
  // Its authority has 283 bytes. The file only checks the whole;
  // protocol-coverage.md 0 limits the authority to the 253 of a domain name.
  std::string long_authority = "com";
  for (int i = 0; i < 40; ++i)
    long_authority += ".middle";
  expect_lines("nsid_syntax_valid", 25, true, valid_nsid,
               {long_authority + ".foo"});
  expect_lines("nsid_syntax_invalid", 27, false, valid_nsid);
}

// protocol-coverage.md 0.4
TEST(SyntaxVectorsTest, RecordKeys) {
  WEIR_VECTORS(folder, "vectors/atproto-interop-tests/syntax");
  expect_lines("recordkey_syntax_valid", 16, true, valid_record_key);
  expect_lines("recordkey_syntax_invalid", 11, false, valid_record_key);
}

// protocol-coverage.md 0.1
TEST(SyntaxVectorsTest, Tids) {
  WEIR_VECTORS(folder, "vectors/atproto-interop-tests/syntax");
  const auto valid = [](std::string_view x) {
    const auto out = tid::parse(x);
    EXPECT_TRUE(!out || out->str() == x);
    return out.has_value();
  };
  expect_lines("tid_syntax_valid", 4, true, valid);
  expect_lines("tid_syntax_invalid", 9, false, valid);
}

TEST(SyntaxVectorsTest, Datetimes) {
  WEIR_VECTORS(folder, "vectors/atproto-interop-tests/syntax");
  const auto valid = [](std::string_view x) {
    return parse_datetime(x).has_value();
  };
  expect_lines("datetime_syntax_valid", 35, true, valid);
  expect_lines("datetime_syntax_invalid", 45, false, valid);
  expect_lines("datetime_parse_invalid", 7, false, valid);
}

// protocol-coverage.md 7.0
TEST(SyntaxVectorsTest, Cids) {
  WEIR_VECTORS(folder, "vectors/atproto-interop-tests/syntax");
  const auto valid = [](std::string_view x) {
    const auto out = cid::from_text(x);
    EXPECT_TRUE(!out || out->to_text() == x);
    return out.has_value();
  };
  // The file checks the characters of any base; data has only base32
  // (protocol-coverage.md 7). Each of these is in another base, or not a CID.
  expect_lines(
    "cid_syntax_valid", 8, true, valid,
    {"zdj7WWeQ43G6JJvLWQWZpyHuAMq6uYWRjkBXFad11vE2LHhQ7", "mBcDxtdWx0aWhhc2g+",
     "z7x3CtScH765HvShXT", "zdj7WhuEjrB52m1BisYCtmjH1hSKa7yZ3jEZ9JcXaFRD51wVz",
     "7134036155352661643226414134664076",
     "f017012202c5f688262e0ece8569aa6f94d60aad55ca8d9d83734e4a7430d0cff6588ec2"
     "b"});
  expect_lines("cid_syntax_invalid", 10, false, valid);
}

// at-identifiers are DIDs or handles.
TEST(SyntaxVectorsTest, AtIdentifiers) {
  WEIR_VECTORS(folder, "vectors/atproto-interop-tests/syntax");
  const auto valid = [](std::string_view x) {
    return valid_did(x) || valid_handle(x);
  };
  expect_lines("atidentifier_syntax_valid", 11, true, valid);
  expect_lines("atidentifier_syntax_invalid", 22, false, valid);
}

} // namespace weir::atproto
