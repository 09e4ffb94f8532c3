#include "storage/disk/write_batch.hpp"
#include "storage/format/byte_codec.hpp"
#include "storage/format/crc32c.hpp"
#include "tests/unit/storage/journal_history.hpp"

#include <gmock/gmock.h>

// The records of a store that a follower or a mirror gets
// (docs/storage-format.md 5).

namespace weir::tests {
namespace {

using namespace storage;

/// A record as another program reads it.
struct read_record {
  uint64_t partition = 0;
  op_id last = 0;
  std::string chain;
  write_batch rows;
};

read_record read(const std::string& record) {
  read_record out;
  byte_source x{record};
  x.rest.remove_suffix(4);
  byte_source sum{std::string_view{record}.substr(x.rest.size())};
  EXPECT_EQ(sum.take_fixed32(), crc32c(x.rest));
  EXPECT_EQ(x.take_byte(), 1);
  out.partition = x.take_varint();
  out.last = x.take_varint();
  out.chain = x.take(32);
  for (auto left = x.take_varint(); left > 0; --left) {
    const auto puts = x.take_byte() == 1;
    const auto key = x.take(x.take_count());
    if (puts)
      out.rows.put(key, x.take(x.take_count()));
    else
      out.rows.erase(key);
  }
  x.expect_end();
  return out;
}

/// All rows except those with the store's identity.
std::vector<std::pair<std::string, std::string>> rows_of(const database& db) {
  std::vector<std::pair<std::string, std::string>> out;
  for (auto rows = db.scan({}); rows.valid(); rows.next())
    if (rows.key()[0] != static_cast<char>(table::meta))
      out.emplace_back(rows.key(), rows.value());
  return out;
}

TEST(BatchRecordTest, AStoreThatAppliesThemAllHasTheSameRows) {
  std::vector<std::string> records;
  test_store leader{{.hand_over = [&records](const std::string& x) {
    records.push_back(x);
    return result<void>{};
  }}};
  history past{11};
  ASSERT_TRUE(past.commit_to(leader, 40));
  ASSERT_TRUE(leader.writer->commit(past.deletion()));
  ASSERT_TRUE(leader.writer->erase_step(past.deleted()));
  ASSERT_FALSE(records.empty());
  test_store follower;
  op_id last = 0;
  for (const auto& x : records) {
    const auto record = read(x);
    EXPECT_EQ(record.partition, 0u);
    EXPECT_GE(record.last, last);
    last = record.last;
    ASSERT_TRUE(follower.db->write(record.rows, sync_mode::relaxed));
  }
  EXPECT_EQ(last, leader.writer->last_id());
  EXPECT_EQ(rows_of(*follower.db), rows_of(*leader.db));
  follower.reopen();
  EXPECT_EQ(follower.findings(), "");
}

TEST(BatchRecordTest, ALaterBatchIsAppendedWhole) {
  const auto alice = atproto::did::trusted("did:web:a.test");
  journal_batch some;
  some.updates.push_back({});
  some.upstreams.push_back({});
  some.listings.push_back({});
  some.identities.push_back({alice, {}});
  some.exported.push_back({alice, {}});
  some.export_place = export_row{};
  some.consumers.push_back({});
  some.configuration.push_back({0, "first", {}});
  journal_batch all;
  all.append(some);
  some.configuration[0].name = "second";
  all.append(some);
  all.append({});
  EXPECT_EQ(all.updates.size(), 2u);
  EXPECT_EQ(all.upstreams.size(), 2u);
  EXPECT_EQ(all.listings.size(), 2u);
  EXPECT_EQ(all.identities.size(), 2u);
  EXPECT_EQ(all.exported.size(), 2u);
  EXPECT_TRUE(all.export_place) << "an empty batch changes nothing";
  EXPECT_EQ(all.consumers.size(), 2u);
  ASSERT_EQ(all.configuration.size(), 2u);
  EXPECT_EQ(all.configuration[1].name, "second");
}

TEST(BatchRecordTest, WhatCouldNotBeHandedOverIsNotWritten) {
  bool fails = false;
  test_store store{{.hand_over = [&fails](const std::string&) -> result<void> {
    if (fails)
      return fail(ec::unreachable, "the follower is away");
    return {};
  }}};
  test_account alice{'a'};
  alice.accept(store.commit(alice.appear()));
  const auto before = rows_of(*store.db);
  fails = true;
  journal_batch group;
  group.updates.push_back(alice.commit({{"app.test.note/a", "one"}}));
  EXPECT_EQ(store.writer->commit(group).error().code, ec::unreachable);
  EXPECT_EQ(rows_of(*store.db), before);
  fails = false;
  EXPECT_EQ(store.writer->commit(group).error().code, ec::unreachable)
    << "as after a write that failed: what is there shows after an open";
}

} // namespace
} // namespace weir::tests
