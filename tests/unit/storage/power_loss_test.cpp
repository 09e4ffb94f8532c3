#include "tests/unit/storage/store_fixture.hpp"

#include <gtest/gtest.h>
#include <leveldb/db.h>
#include <leveldb/env.h>

#include <mutex>

// testing.md, Disk: the content of the store after a power loss, a failed I/O
// call or a flipped bit. Each failing run names its seed.

namespace weir::storage {

namespace {

using tests::fault_env;
using tests::has_row;
using tests::io_error;
using tests::memory_disk;
using tests::open_store;
using tests::put_row;

/// Writes row `i` and, in the same batch, a cursor with value `i`.
result<void> put_with_cursor(database& store, uint64_t i, sync_mode sync) {
  write_batch batch;
  batch.put(tests::row_key(i), tests::row_value(i));
  batch.put(encode_key(meta_key{"cursor"}), encode_value(counter{i + 1}));
  return store.write(batch, sync);
}

uint64_t cursor_of(const database& store) {
  const auto value = store.get(encode_key(meta_key{"cursor"}));
  if (!value || !*value)
    return 0;
  return decode_value<counter>(**value, table::meta).value().value;
}

bool between_logs(const memory_disk& disk) {
  return tests::files_like(disk, ".log").size() > 1;
}

struct run_result {
  uint64_t written = 0; ///< Rows for which `write` succeeded.
  uint64_t durable = 0; ///< This number of first rows must survive.
};

/// Writes rows until the power is lost; some runs have a large buffer.
run_result write_until_power_loss(memory_disk& disk, random_source& random,
                                  const tests::power_loss& how,
                                  unsigned sync_one_in) {
  run_result out;
  auto store = open_store(&disk, {.seed = random.next()});
  EXPECT_TRUE(store) << store.error().context;
  if (!store)
    return out;
  out.durable = out.written = cursor_of(**store);
  const auto until = out.written + 50 + random.below(500);
  // Every second power loss happens while one log replaces another.
  const auto patience = until + 400 * random.below(2);
  while (out.written < until
         || (out.written < patience && !between_logs(disk))) {
    const bool sync = random.below(sync_one_in) == 0
                      || (sync_one_in <= 50 && between_logs(disk));
    const auto mode = sync ? sync_mode::durable : sync_mode::relaxed;
    const auto done = put_with_cursor(**store, out.written, mode);
    EXPECT_TRUE(done) << done.error().context;
    ++out.written;
    if (sync)
      out.durable = out.written;
  }
  disk.cut_power(random, how);
  store->reset();
  disk.power_on();
  return out;
}

void expect_prefix_after_power_loss(uint64_t seeds, uint64_t first_seed,
                                    const tests::power_loss& how,
                                    unsigned sync_one_in) {
  for (uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto random = seeded_random(seed);
    memory_disk disk;
    for (int round = 0; round < 2; ++round) {
      const auto run = write_until_power_loss(disk, *random, how, sync_one_in);
      auto store = open_store(&disk, {.seed = seed});
      ASSERT_TRUE(store) << store.error().context;
      const auto rows = tests::dense_rows(**store, run.written);
      EXPECT_EQ(cursor_of(**store), rows);
      EXPECT_GE(rows, run.durable);
      if (::testing::Test::HasFailure())
        return;
    }
  }
}

/// Delays LevelDB's background work until it is released. Meanwhile an old log
/// stays with its successor, however busy the machine is.
class held_work : public leveldb::EnvWrapper {
public:
  explicit held_work(leveldb::Env* target) : EnvWrapper(target) {}

  void Schedule(void (*function)(void*), void* arg) override {
    const std::lock_guard lock{guard_};
    if (held_)
      work_.emplace_back(function, arg);
    else
      target()->Schedule(function, arg);
  }

  void let_go() {
    const std::lock_guard lock{guard_};
    held_ = false;
    for (const auto& [function, arg] : work_)
      target()->Schedule(function, arg);
  }

private:
  std::mutex guard_;
  bool held_ = true;
  std::vector<std::pair<void (*)(void*), void*>> work_;
};

/// The same with LevelDB directly on the disk; true when rows in the middle are
/// missing.
bool plain_leveldb_has_a_hole(uint64_t seed) {
  const auto random = seeded_random(seed);
  memory_disk disk;
  held_work work{&disk};
  leveldb::Options options;
  options.create_if_missing = true;
  options.paranoid_checks = true;
  options.write_buffer_size = 65'536;
  options.env = &work;
  const auto open = [&] {
    leveldb::DB* db = nullptr;
    leveldb::DB::Open(options, "/plain", &db);
    return std::unique_ptr<leveldb::DB>{db};
  };
  auto db = open();
  uint64_t rows = 0;
  // The last row is synced to a new log, while the end of the old log is not
  // synced.
  for (bool last = false; !last; ++rows) {
    last = rows == 2'000 || (rows >= 50 && between_logs(disk));
    leveldb::WriteOptions how;
    how.sync = last || random->below(50) == 0;
    db->Put(how, tests::row_key(rows), tests::row_value(rows));
  }
  disk.cut_power(*random, {.entries = tests::kept::all});
  work.let_go();
  db = nullptr;
  disk.power_on();
  db = open();
  bool missing = false;
  for (uint64_t i = 0; db && i < rows; ++i) {
    std::string value;
    const bool there = db->Get({}, tests::row_key(i), &value).ok();
    if (there && missing)
      return true;
    missing = missing || !there;
  }
  return false;
}

} // namespace

// Shows that the faults have an effect and that the tests below can fail.
TEST(PowerLossTest, WithoutSafeEnvAPowerLossMakesHoles) {
  uint64_t holes = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed)
    holes += plain_leveldb_has_a_hole(seed) ? 1 : 0;
  EXPECT_GT(holes, 5u);
}

TEST(PowerLossTest, SyncedRowsSurviveAndNothingHasAHole) {
  expect_prefix_after_power_loss(175, 1, {}, 50);
}

TEST(PowerLossTest, WithoutAnySyncThereIsStillNoHole) {
  expect_prefix_after_power_loss(175, 1'000, {}, 1'000'000);
}

TEST(PowerLossTest, ALostDirectoryEntryTakesNothingAcknowledged) {
  expect_prefix_after_power_loss(100, 2'000, {}, 1);
}

TEST(PowerLossTest, AGarbledTailIsCutAndNothingAcknowledgedIsLost) {
  expect_prefix_after_power_loss(50, 3'000, {.garble = true}, 1);
}

// SQLite's method: every single call fails, once or from then on.
TEST(PowerLossTest, NoFailingCallLosesWhatWasAcknowledged) {
  struct plan {
    bool sticky;
    io_error error;
    unsigned torn;
  };
  for (const auto& [sticky, kind, torn] :
       {plan{false, io_error::io, 0}, plan{true, io_error::no_space, 128},
        plan{false, io_error::no_space, 256}}) {
    for (uint64_t nth = 1;; nth += nth < 40 ? 1 : 7) {
      SCOPED_TRACE("call " + std::to_string(nth));
      memory_disk disk;
      fault_env faults{disk};
      faults.plan({.nth = nth, .sticky = sticky, .error = kind, .torn = torn});
      uint64_t acknowledged = 0;
      for (int opening = 0; opening < 2; ++opening) {
        auto store = open_store(&faults, {.write_buffer_bytes = 16'384});
        // A failed write ends the opening; its row may be there or not.
        for (int i = 0; store && i < 150; ++i) {
          if (!put_row(**store, acknowledged, sync_mode::durable))
            break;
          ++acknowledged;
        }
      }
      const bool reached = faults.reached();
      faults.heal();
      auto store = open_store(&faults);
      ASSERT_TRUE(store) << store.error().context;
      for (uint64_t i = 0; i < acknowledged; ++i)
        ASSERT_TRUE(has_row(**store, i)) << i;
      EXPECT_TRUE(put_row(**store, acknowledged));
      if (!reached)
        break;
    }
  }
}

// storage-format.md 1.1: refused, an error, or the right answer, but never a
// wrong one. The last record of a log cannot be distinguished from one that was
// never acknowledged.
TEST(PowerLossTest, AFlippedBitIsNeverServed) {
  constexpr uint64_t rows = 500;
  memory_disk sound;
  {
    auto store = open_store(&sound).value();
    for (uint64_t i = 0; i < rows; ++i)
      ASSERT_TRUE(put_row(*store, i, sync_mode::relaxed));
  }
  const auto random = seeded_random(5);
  const auto names = sound.names();
  uint64_t refused = 0;
  uint64_t answered = 0;
  for (int run = 0; run < 500; ++run) {
    SCOPED_TRACE("run " + std::to_string(run));
    const auto disk = sound.clone();
    const auto& name = names[random->below(names.size())];
    const auto size = disk->read(name).size();
    if (size == 0)
      continue;
    disk->flip_bit(name, random->below(size),
                   static_cast<unsigned>(random->below(8)));
    auto store = open_store(disk.get());
    if (!store) {
      ++refused;
      continue;
    }
    for (uint64_t i = 0; i < rows; ++i) {
      const auto value = (*store)->get(tests::row_key(i));
      if (!value) {
        ++refused;
        break;
      }
      if (!*value) {
        EXPECT_EQ(i, rows - 1) << name;
        EXPECT_TRUE(name.ends_with(".log")) << name;
      } else {
        EXPECT_EQ(**value, tests::row_value(i)) << name;
      }
      ++answered;
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(answered, 100u);
}

} // namespace weir::storage
