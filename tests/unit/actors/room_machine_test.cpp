#include "actors/support/intake_board.hpp"
#include "actors/support/limits.hpp"
#include "actors/upstream/limits.hpp"
#include "base/random.hpp"
#include "tests/unit/actors/supervisor_queue.hpp"
#include "tests/unit/actors/upstream_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// architecture.md, When memory runs short, When the disk fills up: when intake
// pauses and when it continues.
namespace weir::actors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using tests::supervisors::a_host;

constexpr room_marks marks{1'000, 600, 400};

intake_level level_at(room_machine& x, uint64_t free) {
  x.on_room(free, marks);
  return x.level();
}

} // namespace

// architecture.md, When memory runs short: what is used counts here although a
// pause would free nothing
TEST(room_machine, caches_are_emptied_when_nothing_more_is_fetched) {
  constexpr uint64_t limit = 1'000'000;
  constexpr auto most = limit - memory_marks(limit).backfill;
  EXPECT_FALSE(memory_is_short(limit, most));
  EXPECT_TRUE(memory_is_short(limit, most + 1));
  EXPECT_EQ(memory_left(limit, most + 1, 0), limit) << "nothing to free";
}

TEST(room_machine, each_level_begins_below_its_mark) {
  room_machine x;
  EXPECT_EQ(level_at(x, 1'000), intake_level::open);
  EXPECT_EQ(level_at(x, 999), intake_level::no_backfill);
  EXPECT_EQ(level_at(x, 600), intake_level::no_backfill);
  EXPECT_EQ(level_at(x, 599), intake_level::no_reading);
  EXPECT_EQ(level_at(x, 400), intake_level::no_reading);
  EXPECT_EQ(level_at(x, 399), intake_level::no_requests);
  EXPECT_EQ(level_at(x, 0), intake_level::no_requests);
}

TEST(room_machine, each_level_ends_only_with_a_quarter_more) {
  room_machine x;
  EXPECT_EQ(level_at(x, 0), intake_level::no_requests);
  EXPECT_EQ(level_at(x, 499), intake_level::no_requests);
  EXPECT_EQ(level_at(x, 500), intake_level::no_reading);
  EXPECT_EQ(level_at(x, 749), intake_level::no_reading);
  EXPECT_EQ(level_at(x, 750), intake_level::no_backfill);
  EXPECT_EQ(level_at(x, 1'249), intake_level::no_backfill);
  EXPECT_EQ(level_at(x, 1'250), intake_level::open);
}

TEST(room_machine, room_that_comes_and_goes_does_not_make_it_flap) {
  room_machine x;
  size_t changes = 0;
  for (uint64_t i = 0; i < 1'000; ++i)
    changes += x.on_room(i % 2 == 0 ? 990 : 1'240, marks) ? 1 : 0;
  EXPECT_EQ(changes, 1u);
}

TEST(room_machine, only_a_change_is_told) {
  room_machine x;
  EXPECT_FALSE(x.on_room(5'000, marks));
  EXPECT_TRUE(x.on_room(10, marks));
  EXPECT_FALSE(x.on_room(11, marks));
  EXPECT_TRUE(x.on_room(5'000, marks));
}

// limits::disk_reserve_bytes, limits::disk_reserve_percent
TEST(room_machine, the_standard_reserve_is_the_larger_of_two) {
  constexpr uint64_t terabyte = 1'000'000'000'000;
  EXPECT_EQ(disk_reserve(0, 1'000'000), limits::disk_reserve_bytes);
  EXPECT_EQ(disk_reserve(0, terabyte),
            terabyte / 100 * limits::disk_reserve_percent);
  EXPECT_EQ(disk_reserve(7, terabyte), 7u);
  EXPECT_EQ(disk_marks(1'000).reading, 1'000u);
  EXPECT_EQ(disk_marks(1'000).requests, 500u);
}

// limits::memory_backfill_percent, limits::memory_live_percent,
// limits::memory_refuse_percent: at the percentage everything continues, above
// it not.
TEST(room_machine, memory_pauses_backfill_then_reading_then_requests) {
  constexpr uint64_t limit = 1'000'000;
  const auto used = [](uint64_t percent) {
    return limit / 100 * percent;
  };
  room_machine x;
  const auto at = [&](uint64_t bytes) {
    x.on_room(limit - bytes, memory_marks(limit));
    return x.level();
  };
  EXPECT_EQ(at(used(limits::memory_backfill_percent)), intake_level::open);
  EXPECT_EQ(at(used(limits::memory_backfill_percent) + 1),
            intake_level::no_backfill);
  EXPECT_EQ(at(used(limits::memory_live_percent)), intake_level::no_backfill);
  EXPECT_EQ(at(used(limits::memory_live_percent) + 1),
            intake_level::no_reading);
  EXPECT_EQ(at(used(limits::memory_refuse_percent)), intake_level::no_reading);
  EXPECT_EQ(at(used(limits::memory_refuse_percent) + 1),
            intake_level::no_requests);
}

TEST(intake_board, the_tightest_shortage_counts_and_all_are_named) {
  intake_board x;
  EXPECT_TRUE(x.backfills() && x.reads() && x.takes_requests());
  EXPECT_THAT(x.reasons(), IsEmpty());
  x.set(shortage::disk, intake_level::no_reading, "full");
  x.set(shortage::memory, intake_level::no_backfill, "short");
  EXPECT_FALSE(x.backfills());
  EXPECT_FALSE(x.reads());
  EXPECT_TRUE(x.takes_requests());
  EXPECT_THAT(x.reasons(), ElementsAre("disk: full", "memory: short"));
  x.set(shortage::disk, intake_level::open, {});
  EXPECT_TRUE(x.reads());
  EXPECT_FALSE(x.backfills());
  x.set(shortage::store, intake_level::no_requests, "store");
  EXPECT_FALSE(x.takes_requests());
}

// architecture.md, When the disk fills up: spooled data needs room
TEST(intake_board, running_fetches_end_when_the_disk_is_full) {
  intake_board x;
  EXPECT_TRUE(x.keeps_fetches());
  x.set(shortage::disk, intake_level::no_reading, "disk");
  EXPECT_TRUE(x.keeps_fetches()) << "they may end well";
  x.set(shortage::disk, intake_level::no_requests, "disk");
  EXPECT_FALSE(x.keeps_fetches());
  x.set(shortage::disk, intake_level::open, {});
  for (const auto other : {shortage::memory, shortage::store, shortage::clock})
    x.set(other, intake_level::no_requests, "another");
  EXPECT_TRUE(x.keeps_fetches()) << "only the disk has their data";
}

// architecture.md, When the disk fills up: without room the socket gets no
// credit in any case.
TEST(upstream_machine, a_stream_is_not_read_without_room_and_goes_on_with_it) {
  tests::stream x;
  EXPECT_EQ(x.machine.on_intake(false, tests::t0).grant_frames, 0u);
  x.take_seqs({11, 12});
  EXPECT_EQ(x.done({11, 12}).grant_frames, 0u);
  EXPECT_EQ(x.machine.row().cursor, 12u) << "what came is finished";
  x.machine.on_closed({1, fail(ec::unreachable), 0, {}}, 0, tests::t0);
  EXPECT_EQ(x.machine.on_open(tests::t0).grant_frames, 0u);
  const auto resumed = x.machine.on_intake(true, tests::t0);
  EXPECT_GT(resumed.grant_frames, 0u);
  EXPECT_GT(resumed.grant_bytes, 0u);
}

// upstream_view.hpp, sent_all: a silence proves nothing while the stream is not
// read.
TEST(upstream_machine, a_stream_that_is_not_read_is_not_quiet) {
  tests::stream x;
  EXPECT_TRUE(x.machine.quiet_since());
  x.machine.on_intake(false, tests::t0);
  EXPECT_FALSE(x.machine.quiet_since());
  x.done({});
  EXPECT_FALSE(x.machine.quiet_since());
  const auto later = tests::t0 + std::chrono::seconds{5};
  x.machine.on_intake(true, later);
  EXPECT_EQ(x.machine.quiet_since(), later);
}

// architecture.md, When the disk fills up: backfill gives no permits, and
// starts again by itself.
TEST(supervisor_machine, without_room_nobody_is_asked_and_no_permit_is_given) {
  tests::supervisors::queue x;
  x.ask(1, a_host);
  x.wish(2);
  x.clear();
  x.machine.on_intake(false, x.now);
  x.ready(2, a_host);
  x.wish(3);
  x.end(1);
  x.tick();
  EXPECT_THAT(x.prepared, IsEmpty());
  EXPECT_THAT(x.started, IsEmpty());
  const auto resumed = x.machine.on_intake(true, x.now);
  EXPECT_EQ(resumed.start.size(), 1u);
  EXPECT_EQ(resumed.look_up.size(), 1u);
}

} // namespace weir::actors
