#include "storage/disk/write_batch.hpp"
#include "storage/log/tail_cache.hpp"
#include "tests/unit/copies/large_blocks.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

namespace weir::tests {

namespace {

constexpr size_t record_bytes = 700'000;

// LevelDB's copies: its batch, its memory table, its log.
size_t blocks_of_leveldb(test_store& store) {
  const std::string value(record_bytes, 'v');
  const large_blocks blocks{record_bytes};
  storage::write_batch batch;
  batch.put("a key", value);
  batch.put("the next", "lets the batch grow beyond the value");
  EXPECT_TRUE(store.db->write(batch, storage::sync_mode::durable));
  return blocks.count();
}

} // namespace

// Between the socket and LevelDB's batch a record is copied at most twice: with
// its frame out of the reader's buffer, when the frame is small
// (FrameCopiesTest), and into the value of its content block. The newest
// operations, which consumers read, share the second copy.
TEST(RecordCopiesTest, TheStoreCopiesARecordOnceBeforeLevelDbDoes) {
  test_store store;
  test_account alice{'a'};
  alice.accept(store.commit(alice.appear()));
  const std::string body(record_bytes, 'r');
  storage::journal_batch group;
  group.updates.push_back(alice.commit({{"app.test.note/large", body}}));
  const auto below = blocks_of_leveldb(store);
  storage::commit_result done;
  size_t all = 0;
  {
    const large_blocks blocks{record_bytes};
    done = store.commit(std::move(group));
    all = blocks.count();
  }
  EXPECT_EQ(all, below + 1);
  ASSERT_EQ(done.entries.size(), 1u);
  EXPECT_EQ(as_text(done.entries[0]->ops.at(0).body.view()), body);
}

} // namespace weir::tests
