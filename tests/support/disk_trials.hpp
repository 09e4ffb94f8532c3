#pragma once

#include "base/error.hpp"
#include "tests/support/fault_env.hpp"
#include "tests/support/memory_disk.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

/// The disk harness (testing.md, Disk): a workload, and every fault that a disk
/// can have while it runs. It accepts any code that uses a `disk_env`.
namespace weir::tests {

/// A workload on a disk. Every trial makes a new one and starts with an empty
/// disk.
class disk_workload {
public:
  virtual ~disk_workload() = default;

  /// Runs from the first open to the last close, or to the first error, which
  /// it returns. It remembers what was acknowledged and leaves nothing open.
  virtual result<void> run(storage::disk_env& disk) = 0;

  /// Opens what `run` left, on a disk without faults, and says what is wrong:
  /// acknowledged data is missing, something is incomplete, or a checker has a
  /// finding. Empty when all is well.
  virtual std::string examine(storage::disk_env& disk) = 0;
};

using make_workload = std::function<std::unique_ptr<disk_workload>()>;

/// The results of many trials.
struct trial_report {
  uint64_t trials = 0;
  uint64_t errors = 0; ///< Trials in which `run` returned an error.
  /// The first few failures, one a line; empty when all is well.
  std::string failures;
};

/// SQLite's method: number n of the calls that `how` selects fails, for n = 1,
/// 2, 3 ... until a run ends before call n. After each run the disk has no more
/// faults, and the workload is examined. An error that `run` returns must name
/// the cause and a path below `directory`.
trial_report fail_every_call(const make_workload& make, fault_plan how,
                             const std::string& directory, uint64_t step = 1);

/// The power fails before call n that changes the disk, for every n: at each
/// sync and everywhere between. Unsynced data is lost as `how` allows, drawn
/// anew for each of `seeds`.
trial_report lose_power_at_every_call(const make_workload& make,
                                      const power_loss& how, uint64_t seeds,
                                      uint64_t step = 1);

/// How a reader handles a disk with one flipped bit.
enum class flip_outcome : uint8_t {
  found,     ///< A refusal, an error, or a finding of a checker.
  unchanged, ///< Every answer is correct.
  wrong,     ///< At least one answer is wrong.
};

/// Judges a disk on which a bit of file `name` was flipped. It may write to it.
using judge_flip
  = std::function<flip_outcome(memory_disk& disk, const std::string& name)>;

struct flip_report {
  struct tally {
    uint64_t flips = 0;
    uint64_t found = 0;
  };
  std::map<std::string, tally> files;
  std::string failures; ///< The same as in `trial_report`.
};

/// Flips a random bit of bytes 0, s, 2s ... of every file, one at a time, where
/// s is the smallest step with which at most `bytes_max` bytes are tried.
flip_report flip_bits(const memory_disk& sound, const judge_flip& judge,
                      uint64_t bytes_max, uint64_t seed);

/// A number from the environment, for the long forms of a test; `otherwise`
/// when the variable is not set.
uint64_t number_from(const char* variable, uint64_t otherwise);

} // namespace weir::tests
