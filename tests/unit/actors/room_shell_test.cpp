#include "actors/journal/journal.hpp"
#include "actors/node/disk_choice.hpp"
#include "actors/node/watches.hpp"
#include "actors/support/limits.hpp"
#include "messages/consumer.hpp"
#include "messages/journal.hpp"
#include "storage/log/tail_cache.hpp"
#include "tests/support/fault_env.hpp"
#include "tests/unit/actors/shell_fixture.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

// architecture.md, When the disk fills up: a full disk, from the room watch to
// the actors that must know.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t reserve = 1'000;
constexpr uint64_t memory_limit = 1'000'000;
/// The interval between measurements of memory.
constexpr std::chrono::microseconds often
  = std::chrono::microseconds{limits::room_check_interval} / 10;

class RoomWatchTest : public ShellFixture {
protected:
  RoomWatchTest() {
    home->readers.push_back(reader.as<reader_actor>());
    shared->supervisor = supervisor.as<supervisor_actor>();
    home->sweeper = sweeper.as<sweeper_actor>();
    shared->set_upstream(7, upstream.as<upstream_actor>());
    room_watch_options options;
    options.data_dir = "/var/weir";
    options.disk_reserve = reserve;
    options.memory_limit = memory_limit;
    options.resident = [this] {
      ++measured;
      return resident;
    };
    options.give_back = [this] {
      ++given_back;
    };
    room
      = keep(spawn_room_watch(sys, shared, options, [this](const error& why) {
          reopened.push_back(why.code);
        }));
  }

  void see(uint64_t free) {
    tell(room, disk_reading{storage::disk_space{free, 1'000'000}});
  }

  /// Both actors that let data in were told, and none twice.
  bool told() {
    const auto one = upstream.count<intake_changed>();
    EXPECT_EQ(supervisor.count<intake_changed>(), one);
    EXPECT_LE(one, 1u);
    return one == 1;
  }

  probe reader{sys};
  probe supervisor{sys};
  probe sweeper{sys};
  probe upstream{sys};
  std::vector<ec> reopened;
  uint64_t resident = 1;
  size_t measured = 0;
  size_t given_back = 0;
  room_actor room;
};

/// A JOURNAL on a disk that may be full.
class JournalRoomTest : public ShellFixture {
protected:
  JournalRoomTest() {
    store.reopen();
    journal = keep(spawn_journal(sys, shared, home,
                                 {store.writer.get(), &tail,
                                  [] {
                                    return 0;
                                  }},
                                 [this](const error& why) {
                                   failures.push_back(why.code);
                                 }));
  }

  journal_rows rows(uint64_t token) {
    auto batch = std::make_shared<storage::journal_batch>();
    storage::upstream_row row;
    row.id = static_cast<uint32_t>(token);
    row.url = "https://u" + std::to_string(token) + ".test";
    batch->upstreams.push_back(row);
    return {std::move(batch), token};
  }

  memory_disk disk;
  fault_env faults{disk};
  test_store store{faults, {}};
  storage::tail_cache tail{1};
  store_stats& stats = home->stats;
  std::vector<ec> failures;
  probe asker{sys};
  journal_actor journal;
};

} // namespace

// limits::room_check_interval
TEST_F(RoomWatchTest, TheDiskIsLookedAtAgainAndAgainButNeverTwiceAtOnce) {
  EXPECT_EQ(reader.count<reader_job>(), 1u);
  pass(10 * limits::room_check_interval);
  EXPECT_EQ(reader.count<reader_job>(), 0u) << "it has not answered yet";
  see(5'000);
  for (int i = 1; i < 10; ++i)
    pass(often);
  EXPECT_EQ(reader.count<reader_job>(), 0u);
  pass(often);
  EXPECT_EQ(reader.count<reader_job>(), 1u);
}

// limits::room_check_interval
TEST_F(RoomWatchTest, MemoryIsMeasuredTenTimesAsOftenAndNotMore) {
  const auto before = measured;
  pass(often - 1us);
  EXPECT_EQ(measured, before);
  pass(1us);
  EXPECT_EQ(measured, before + 1);
  for (int i = 0; i < 9; ++i)
    pass(often);
  EXPECT_EQ(measured, before + 10);
}

TEST_F(RoomWatchTest, MemoryPausesBackfillThenReadingThenRequests) {
  byte_claim queues{shared->memory, memory_use::streams};
  queues.set(memory_limit / 32);
  const auto level_at = [this](uint64_t bytes) {
    resident = bytes;
    pass(often);
    return shared->intake.level();
  };
  EXPECT_EQ(level_at(800'000), intake_level::open);
  EXPECT_EQ(given_back, 0u);
  EXPECT_EQ(level_at(800'001), intake_level::no_backfill);
  EXPECT_EQ(given_back, 1u) << "what is free is not kept";
  EXPECT_EQ(level_at(900'001), intake_level::no_reading);
  EXPECT_EQ(level_at(950'001), intake_level::no_requests);
  EXPECT_THAT(shared->intake.reasons(), SizeIs(1));
  EXPECT_EQ(upstream.count<intake_changed>(), 3u);
  EXPECT_EQ(supervisor.count<intake_changed>(), 3u);
  EXPECT_EQ(level_at(750'000), intake_level::open);
}

// Otherwise a node whose caches fill its memory, or whose application is gone,
// would stop for ever.
TEST_F(RoomWatchTest, WhenNothingIsOnItsWayAPauseEnds) {
  byte_claim unread{shared->memory, memory_use::delivery};
  unread.set(memory_limit / 2);
  resident = memory_limit;
  {
    byte_claim queues{shared->memory, memory_use::repos};
    queues.set(memory_limit / 32);
    pass(often);
    EXPECT_FALSE(shared->intake.takes_requests());
  }
  pass(often);
  EXPECT_EQ(shared->intake.level(), intake_level::open);
}

TEST_F(RoomWatchTest, WhatIsCountedIsBelievedWhereTheSystemDoesNotTell) {
  resident = 0;
  byte_claim queues{shared->memory, memory_use::fetches};
  queues.set(memory_limit / 100 * 80);
  pass(often);
  EXPECT_EQ(shared->intake.level(), intake_level::open);
  queues.set(memory_limit / 100 * 80 + 1);
  pass(often);
  EXPECT_EQ(shared->intake.level(), intake_level::no_backfill);
}

TEST_F(RoomWatchTest, FreeMemoryIsGivenBackOnceASecondWhileItIsShort) {
  resident = memory_limit;
  for (int i = 0; i < 10; ++i)
    pass(often);
  EXPECT_EQ(given_back, 1u);
  pass(often);
  EXPECT_EQ(given_back, 2u);
}

// The caches of the store as well; SWEEPER then returns what the allocator
// keeps.
TEST_F(RoomWatchTest, TheStoreGivesUpItsCachesWhenANodeThatHasGrownRests) {
  resident = 1 + limits::heap_return_bytes;
  for (std::chrono::microseconds passed{}; passed < limits::heap_rest_time;
       passed += often) {
    EXPECT_EQ(sweeper.count<release_caches>(), 0u);
    pass(often);
  }
  EXPECT_EQ(sweeper.count<release_caches>(), 1u);
}

TEST_F(RoomWatchTest, IntakePausesAtTheReserveAndRequestsAtHalfOfIt) {
  see(reserve);
  EXPECT_FALSE(told());
  see(reserve - 1);
  EXPECT_TRUE(told());
  EXPECT_FALSE(shared->intake.reads());
  EXPECT_FALSE(shared->intake.backfills());
  EXPECT_TRUE(shared->intake.takes_requests());
  EXPECT_THAT(shared->intake.reasons(), SizeIs(1));
  see(reserve / 2 - 1);
  EXPECT_TRUE(told());
  EXPECT_FALSE(shared->intake.takes_requests());
  see(reserve + reserve / 4);
  EXPECT_TRUE(told());
  EXPECT_EQ(shared->intake.level(), intake_level::open);
  EXPECT_THAT(shared->intake.reasons(), IsEmpty());
  EXPECT_THAT(reopened, IsEmpty()) << "the store never failed";
}

// ADR 26: the directory of a partition may be on a disk of its own.
TEST(DiskChoiceTest, AFailedStoreCountsThenTheDiskWithLeastToSpare) {
  const disk_reading first{storage::disk_space{500, 1'000, 1}};
  const disk_reading same{storage::disk_space{400, 1'000, 1}};
  const disk_reading tighter{storage::disk_space{499, 1'000, 2}};
  const disk_reading as_tight{storage::disk_space{500, 1'000, 2}};
  EXPECT_FALSE(counts_before(same, first, 100)) << "the first one on a disk";
  EXPECT_TRUE(counts_before(tighter, first, 100));
  EXPECT_FALSE(counts_before(as_tight, first, 100));
  const disk_reading unknown{fail(ec::storage_failure, "no answer")};
  disk_reading failed = first;
  failed.failed = fail(ec::disk_full, "");
  for (const auto& x : {unknown, failed}) {
    EXPECT_TRUE(counts_before(x, first, 100));
    EXPECT_FALSE(counts_before(tighter, x, 100)) << "the first failure";
  }
}

TEST(DiskChoiceTest, AQuarterMoreThanTheReserveIsAmple) {
  const auto ample = [](uint64_t free) {
    return has_ample_room({storage::disk_space{free, 1'000'000}}, reserve);
  };
  EXPECT_FALSE(ample(reserve + reserve / 4 - 1));
  EXPECT_TRUE(ample(reserve + reserve / 4));
  EXPECT_FALSE(has_ample_room({fail(ec::unreachable)}, reserve));
}

// Free bytes do not prove that a disk takes writes.
TEST(DiskChoiceTest, TheNodeEndsForAFailedStoreOrForADiskThatTakesWrites) {
  const auto ends_for = [](const disk_reading& x) {
    const auto out = reason_to_end(x);
    return out ? out->code : ec::none;
  };
  disk_reading x{storage::disk_space{1'000'000, 1'000'000}};
  EXPECT_EQ(ends_for(x), ec::none);
  x.trial = fail(ec::disk_full, "no inode");
  EXPECT_EQ(ends_for(x), ec::none);
  x.failed = fail(ec::disk_full);
  EXPECT_EQ(ends_for(x), ec::none) << "it waits for space";
  x.trial = result<void>{};
  EXPECT_EQ(ends_for(x), ec::disk_full);
  x.failed = fail(ec::storage_failure);
  EXPECT_EQ(ends_for(x), ec::storage_failure);
}

TEST_F(RoomWatchTest, ADiskThatIsFullIsNamedByItsDirectory) {
  const auto reason = [this](uint16_t partition, uint64_t free) {
    tell(room,
         disk_reading{storage::disk_space{free, 1'000'000}, {}, partition});
    return shared->intake.reasons().at(0);
  };
  EXPECT_THAT(reason(0, reserve - 1), testing::HasSubstr("disk of data_dir "));
  EXPECT_THAT(reason(2, reserve / 2 - 1),
              testing::HasSubstr("disk of /var/weir/partition-2 "));
}

TEST_F(RoomWatchTest, ADiskThatCannotBeAskedChangesNothing) {
  see(10);
  EXPECT_TRUE(told());
  tell(room, disk_reading{fail(ec::storage_failure, "no answer")});
  EXPECT_FALSE(told());
  EXPECT_FALSE(shared->intake.takes_requests());
}

// It reports nothing that is not written, and keeps nothing for later.
TEST_F(JournalRoomTest, AfterAFullDiskItTakesAndTellsNothingMore) {
  tell(journal, rows(1), asker.as<rows_sink>());
  EXPECT_EQ(asker.count<rows_durable>(), 1u);
  faults.budget(0);
  tell(journal, rows(2), asker.as<rows_sink>());
  tell(journal, rows(3), asker.as<rows_sink>());
  EXPECT_THAT(failures, testing::ElementsAre(ec::disk_full));
  faults.budget(std::nullopt);
  tell(journal, rows(4), asker.as<rows_sink>());
  EXPECT_EQ(asker.count<rows_durable>(), 0u);
  tell(journal, stop_actor{});
  store.reopen();
  EXPECT_EQ(store.findings(), "");
}

} // namespace weir::tests
