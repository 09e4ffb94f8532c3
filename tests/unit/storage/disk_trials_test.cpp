#include "tests/support/disk_trials.hpp"
#include "tests/unit/storage/journal_history.hpp"
#include "tests/unit/storage/store_fixture.hpp"

// One workload of a store, from its creation through rotation of logs,
// compaction, erasing and repair to its last close, with every fault of a disk:
// testing.md, Disk. The long forms: WEIR_DISK_STEP=1 WEIR_DISK_SEEDS=100.

namespace weir::storage {
namespace {

using tests::all_kinds;
using tests::disk_workload;
using tests::fail_every_call;
using tests::fault_plan;
using tests::history;
using tests::io_call;
using tests::io_error;
using tests::kept;
using tests::kind_bit;
using tests::lose_power_at_every_call;
using tests::memory_disk;
using tests::number_from;
using tests::power_loss;
using tests::test_store;
using tests::trial_report;
using tests::write_kinds;

constexpr const char* directory = "/store";
constexpr size_t sessions = 6;
constexpr size_t spoilt_session = 3;
constexpr size_t erasing_session = 4;
constexpr size_t groups_a_session = 4;
constexpr size_t body_bytes_max = 6'000;
/// The smallest size that LevelDB accepts.
constexpr size_t buffer_bytes = 65'536;

/// Writes what a crash in the middle of a write leaves at the end of the newest
/// log. Failures do not matter: then nothing is damaged.
void spoil_tail(disk_env& disk) {
  std::vector<std::string> names;
  disk.GetChildren(directory, &names);
  std::string newest;
  for (const auto& name : names)
    if (name.ends_with(".log"))
      newest = std::max(newest, name);
  leveldb::WritableFile* file = nullptr;
  if (newest.empty()
      || !disk.NewAppendableFile(directory + ("/" + newest), &file).ok())
    return;
  const std::unique_ptr<leveldb::WritableFile> owner{file};
  // A header that announces five bytes, with a wrong checksum.
  if (file->Append({"crc?\x05\x00\x01 12345", 13}).ok())
    file->Sync();
}

class store_workload final : public disk_workload {
public:
  result<void> run(disk_env& disk) override {
    for (size_t i = 0; i < sessions; ++i) {
      if (i == spoilt_session)
        spoil_tail(disk);
      test_store store{disk, {}, buffer_bytes};
      auto done = store.try_open();
      if (done)
        done = work(store, i);
      if (!done)
        return done;
    }
    return {};
  }

  std::string examine(disk_env& disk) override {
    test_store store{disk, {}, buffer_bytes};
    if (auto ok = store.try_open(); !ok)
      return "it does not open: " + to_string(ok.error());
    auto out = past_.complaint_about(store);
    if (!out.empty() || history::last_group(store) != past_.groups_done)
      return out; // The accounts do not know a group that survived its failure.
    past_.rewind();
    if (auto ok = past_.commit_to(store, 1); !ok)
      return "nothing can be written: " + to_string(ok.error());
    return past_.complaint_about(store);
  }

private:
  result<void> work(test_store& store, size_t session) {
    for (size_t i = 0; i < groups_a_session; ++i) {
      if (auto ok = past_.commit_to(store, 1); !ok)
        return ok;
      store.db->files().wait_until_idle();
    }
    return session == erasing_session ? erase(store) : result<void>{};
  }

  result<void> erase(test_store& store) {
    const auto group = past_.deletion();
    const auto out = store.writer->commit(group);
    if (!out)
      return out.error();
    past_.accept(group, *out);
    for (;;) {
      const auto more = store.writer->erase_step(past_.deleted(), 8);
      if (!more)
        return more.error();
      if (!*more)
        return store.db->write({}, sync_mode::durable);
    }
  }

  history past_{1, body_bytes_max};
};

std::unique_ptr<disk_workload> make() {
  return std::make_unique<store_workload>();
}

uint64_t step_of(uint64_t otherwise) {
  return number_from("WEIR_DISK_STEP", otherwise);
}

} // namespace

TEST(DiskTrialsTest, TheWorkloadRotatesCompactsErasesAndRepairs) {
  memory_disk disk;
  tests::fault_env faults{disk};
  store_workload work;
  const auto done = work.run(faults);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(work.examine(faults), "");
  EXPECT_GT(faults.calls(io_call::sync), 40u);
  EXPECT_GT(faults.calls(io_call::rename), 5u);
  EXPECT_GT(faults.calls(io_call::remove), 15u);
  bool repaired = false;
  for (const auto& name : disk.names())
    repaired = repaired || name.find("/cut-") != std::string::npos;
  EXPECT_TRUE(repaired);
}

void sweep(const fault_plan& how, uint64_t step) {
  const auto report = fail_every_call(make, how, directory, step_of(step));
  EXPECT_EQ(report.failures, "");
  EXPECT_GT(report.trials, 0u);
}

TEST(DiskTrialsTest, EveryCallFailsOnce) {
  sweep({.kinds = all_kinds & ~kind_bit(io_call::exists)}, 1);
}

TEST(DiskTrialsTest, EveryCallFailsForGood) {
  sweep({.sticky = true, .kinds = all_kinds & ~kind_bit(io_call::exists)}, 3);
}

TEST(DiskTrialsTest, TheDiskIsFullOnceAndWritesAreTorn) {
  sweep({.error = io_error::no_space, .torn = 128, .kinds = write_kinds}, 3);
}

TEST(DiskTrialsTest, TheDiskIsFullForGoodFromEveryWriteOn) {
  sweep({.sticky = true,
         .error = io_error::no_space,
         .torn = 77,
         .kinds = write_kinds},
        1);
}

TEST(DiskTrialsTest, AWriteThatFailedMayBeThereWhole) {
  sweep({.torn = 256, .kinds = kind_bit(io_call::append)}, 3);
}

TEST(DiskTrialsTest, FilesThatSeemToBeGoneForAMomentLoseNothing) {
  sweep({.kinds = kind_bit(io_call::exists)}, 1);
  sweep({.sticky = true, .kinds = kind_bit(io_call::exists)}, 1);
}

void lose_power(const power_loss& how, uint64_t step) {
  const auto report = lose_power_at_every_call(
    make, how, number_from("WEIR_DISK_SEEDS", 1), step_of(step));
  EXPECT_EQ(report.failures, "");
  EXPECT_EQ(report.errors, report.trials);
}

TEST(DiskTrialsTest, ThePowerFailsAtEveryCall) {
  lose_power({}, 1);
}

TEST(DiskTrialsTest, ThePowerFailsAtEveryCallAndTailsAreGarbled) {
  lose_power({.garble = true}, 1);
}

TEST(DiskTrialsTest, ThePowerFailsAtEveryCallAndPagesAreOutOfOrder) {
  lose_power({.reorder = true}, 1);
}

// Written data may be there before the name of a file that it refers to.
TEST(DiskTrialsTest, ThePowerFailsAtEveryCallAndOnlyBytesAreKept) {
  lose_power({.bytes = kept::all, .entries = kept::none}, 1);
}

TEST(DiskTrialsTest, ThePowerFailsAtEveryCallAndOnlyNamesAreKept) {
  lose_power({.bytes = kept::none, .entries = kept::all}, 1);
}

} // namespace weir::storage
