#include "storage/format/content_block.hpp"
#include "storage/format/hashes.hpp"
#include "tests/support/vectors.hpp"
#include "tests/unit/storage/codec_checks.hpp"
#include "tests/unit/storage/content_stubs.hpp"
#include "tests/unit/storage/sample_rows.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

// The bytes of every row at the time when the format was documented. A change
// here is a change of the format and needs a new format number.

namespace weir::storage {

namespace {

std::string sample_content() {
  content_block_writer out;
  out.add(as_bytes("first"));
  out.add(as_bytes("the second body"));
  return tests::with_stubs(out.take(), {0});
}

std::map<std::string, std::string> sample_values() {
  using tests::sample_cid;
  const tests::fixed_names names{"app.test.note", "app.test.like"};
  return {
    {"log_block", encode_log_block(tests::sample_block()).value()},
    {"content_block", sample_content()},
    {"stream_block", encode_value(stream_run{1000, 200})},
    {"chain", encode_chain(tests::sample_chain(), names).value()},
    {"record_head",
     encode_value(record_head{sample_cid, atproto::tid{99}, 1000, 500, true})},
    {"counter", encode_value(counter{300})},
    {"stored_bytes", encode_value(stored_bytes{{1, 2, 3}})},
    {"sync_buffer", encode_value(waiting_row{{7, 2, 12345}, 11, true,
                                             {{1, 2, 3}}})},
    {"repo", encode_value(tests::sample_repo())},
    {"member", encode_value(member_row{2, {"app.test.note", "app.test.*"}})},
    {"filter", encode_value(filter_row{7, {"app.test.*"}})},
    {"stream_head",
     encode_value(stream_head_row{300, tests::digest_of_byte(3), 42})},
    {"collection_member", encode_value(holder_row{1000, true})},
    {"collection_name",
     encode_value(collection_row{"app.test.note", "https://pds.example.com",
                                 "did:plc:ewvi7nxzyoun6zhxrhs64oiz"})},
    {"log_epochs",
     encode_value(log_epochs_row{{{1000, 1ull << 32}, {2000, 1ull << 40}}})},
    {"erasure", encode_value(erasure_row{
                  1000, erasure_stage::streams, {1, 2, 3}, {{200, 900}}})},
    {"identity",
     encode_value(identity_row{"zQ3sh", "https://pds.example.com", "alice.test",
                               "bob.test", 1'700'000'000, true})},
    {"upstream", encode_value(upstream_row{7, "wss://relay.example.com", true,
                                           3, 1ull << 50, 12, true})},
    {"listing",
     encode_value(listing_row{"cursor", true, {7, 2, 12345}})},
    {"consumer", encode_value(consumer_row{{1000}, 0xfedcba9876543210, true, 900, 3})},
    {"dead_letter", encode_value(dead_letter_row{3, "no answer", -1})},
  };
}

std::map<std::string, std::string> pinned_values() {
  std::map<std::string, std::string> out;
  const auto path = tests::data_path("storage/values.txt");
  for (const auto& line : tests::read_vector_lines(path)) {
    std::istringstream words{line};
    std::string name;
    words >> name >> out[name];
  }
  return out;
}

} // namespace

TEST(StoreFormatTest, ValuesHaveThePinnedBytes) {
  const auto pinned = pinned_values();
  const auto now = sample_values();
  EXPECT_EQ(pinned.size(), now.size());
  for (const auto& [name, value] : now) {
    const auto at = pinned.find(name);
    ASSERT_NE(at, pinned.end()) << name << ' ' << tests::to_hex(value);
    EXPECT_EQ(tests::to_hex(value), at->second) << name;
  }
}

// Bytes written by hand from docs/storage-format.md, not by the encoder.
TEST(StoreFormatTest, TheDocumentDescribesARecordHead) {
  const std::string head = std::string{"\x01\x01"}
                           + std::string(32, '\xaa') // format, dag-cbor CID
                           + std::string{"\0\0\0\0\0\0\0\x63", 8} // rev
                           + "\xe8\x07"  // operation 1000
                           + "\xe9\x07"; // content 500, referenced
  const auto row = decode_value<record_head>(head);
  ASSERT_TRUE(row) << row.error().context;
  EXPECT_EQ(row->id, tests::sample_cid);
  EXPECT_EQ(row->rev, atproto::tid{99});
  EXPECT_EQ(row->op, 1000u);
  EXPECT_EQ(row->content, 500u);
  EXPECT_TRUE(row->referenced);
}

} // namespace weir::storage
