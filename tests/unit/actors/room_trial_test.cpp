#include "actors/node/limits.hpp"
#include "actors/node/watches.hpp"
#include "actors/reader/reader.hpp"
#include "actors/support/store_readers.hpp"
#include "storage/log/tail_cache.hpp"
#include "tests/support/fault_env.hpp"
#include "tests/unit/actors/shell_fixture.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

// architecture.md, When the disk fills up: a store that found no space, its
// disk, and the room watch that opens it anew.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A room watch and a READER over a real store whose disk refuses writes, as
/// the JOURNAL has just found out.
class RoomTrialTest : public ShellFixture {
protected:
  static constexpr uint64_t reserve = 1'000'000;
  static constexpr uint64_t ample = reserve + reserve / 4;

  struct open_store : test_store {
    explicit open_store(fault_env& on) : test_store(on, {}) { reopen(); }
  };

  RoomTrialTest() {
    shared->stores = {shared->places(), {&rows}};
    home->readers.push_back(keep(spawn_reader(sys, rows, false)));
    faults.plan({.sticky = true, .error = io_error::no_space});
    storage::write_batch batch;
    batch.put("key", "value");
    EXPECT_FALSE(store.db->write(batch, storage::sync_mode::durable));
    shared->intake.set(shortage::store, intake_level::no_requests, "full");
    created = faults.calls(io_call::create);
  }

  void watch() {
    room_watch_options options;
    options.data_dir = "/var/weir";
    options.disk_reserve = reserve;
    options.resident = [] {
      return 1;
    };
    options.give_back = [] {};
    keep(spawn_room_watch(sys, shared, options, [this](const error& why) {
      ended.push_back(why.code);
    }));
  }

  /// How many trials there were since the last call.
  uint64_t trials() {
    const auto all = faults.calls(io_call::create);
    return all - std::exchange(created, all);
  }

  memory_disk disk;
  fault_env faults{disk};
  open_store store{faults};
  storage::tail_cache tail{1};
  store_readers rows{*store.db, *store.names, tail};
  std::vector<ec> ended;
  uint64_t created = 0;
};

} // namespace

TEST_F(RoomTrialTest, ADiskThatRefusesFilesIsNotUsedHoweverMuchIsFree) {
  faults.plan({.sticky = true,
               .error = io_error::no_space,
               .kinds = kind_bit(io_call::create)});
  watch();
  EXPECT_EQ(trials(), 1u) << "the first refusal ends a trial";
  for (int i = 0; i < 30; ++i)
    pass(1s);
  EXPECT_THAT(ended, IsEmpty());
  EXPECT_FALSE(shared->intake.takes_requests());
  EXPECT_THAT(shared->intake.reasons(),
              Contains(AllOf(HasSubstr("store: "), HasSubstr("refuses writes"),
                             HasSubstr(std::to_string(memory_disk::total)))));
  faults.heal();
  for (int i = 0; i < 60; ++i)
    pass(1s);
  EXPECT_THAT(ended, ElementsAre(ec::disk_full));
}

// limits::disk_trial_pause_min, limits::disk_trial_pause_max
TEST_F(RoomTrialTest, ADiskThatRefusesIsTriedMoreAndMoreRarely) {
  watch();
  EXPECT_EQ(trials(), 1u);
  for (auto pause = limits::disk_trial_pause_min;
       pause < 2 * limits::disk_trial_pause_max; pause *= 2) {
    const auto wait = std::min(pause, limits::disk_trial_pause_max);
    for (auto i = 1s; i < wait; ++i)
      pass(1s);
    EXPECT_EQ(trials(), 0u) << wait.count();
    pass(1s);
    EXPECT_EQ(trials(), 1u) << wait.count();
  }
}

TEST_F(RoomTrialTest, ADiskWithoutFreeBytesIsNotTried) {
  faults.heal();
  disk.free = ample - 1;
  watch();
  pass(1s);
  EXPECT_EQ(trials(), 0u);
  EXPECT_THAT(ended, IsEmpty());
  disk.free = ample;
  pass(1s);
  EXPECT_THAT(ended, ElementsAre(ec::disk_full));
}

TEST_F(RoomTrialTest, ADiskThatWasNotFullIsNotTried) {
  shared->intake.set(shortage::store, intake_level::open, "");
  watch();
  pass(1s);
  EXPECT_EQ(trials(), 0u);
  EXPECT_THAT(ended, IsEmpty());
}

// ADR 26: the directory of a partition may be on a disk of its own.
TEST_F(RoomTrialTest, TheDisksOfAllStoresAreTried) {
  faults.heal();
  memory_disk other_disk;
  fault_env other_faults{other_disk};
  open_store other{other_faults};
  store_readers other_rows{*other.db, *other.names, tail};
  shared->stores = {shared->places(), {&rows, &other_rows}};
  other_faults.plan({.sticky = true, .error = io_error::no_space});
  watch();
  EXPECT_THAT(ended, IsEmpty());
  other_faults.heal();
  pass(1s);
  EXPECT_THAT(ended, ElementsAre(ec::disk_full));
}

} // namespace weir::tests
