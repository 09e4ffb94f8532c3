#pragma once

#include "base/error.hpp"
#include "tests/support/fault_env.hpp"
#include "tests/support/memory_disk.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

/// The disk harness (testing.md, Disk): one piece of work, and everything a
/// disk can do to it. Whatever lives on a `disk_env` can be put through it.
namespace weir::tests {

/// Work on a disk. Every trial makes a new one, over an empty disk.
class disk_workload {
public:
  virtual ~disk_workload() = default;

  /// From the first open to the last close, or to the first error, which it
  /// returns. Remembers what was acknowledged; leaves nothing open.
  virtual result<void> run(storage::disk_env& disk) = 0;

  /// Opens what `run` left, on a disk that is well again, and says what is
  /// wrong: acknowledged and gone, not whole, or found by a checker. Empty when
  /// all is well.
  virtual std::string examine(storage::disk_env& disk) = 0;
};

using make_workload = std::function<std::unique_ptr<disk_workload>()>;

/// What came of many trials.
struct trial_report {
  uint64_t trials = 0;
  uint64_t errors = 0;  ///< Of them, `run` told an error; the others did not.
  std::string failures; ///< One a line, the first few; empty when all is well.
};

/// The SQLite method: number n of the calls that `how` selects fails, for
/// n = 1, 2, 3 ... until a run ends without reaching it. After each the disk is
/// well again and the workload is examined. An error of `run` must carry the
/// cause and a name below `directory`.
trial_report fail_every_call(const make_workload& make, fault_plan how,
                             const std::string& directory, uint64_t step = 1);

/// The power fails before call n that changes the disk, for every n, so at each
/// sync and everywhere between. What was not synced is lost as `how` allows,
/// anew for each of `seeds`.
trial_report lose_power_at_every_call(const make_workload& make,
                                      const power_loss& how, uint64_t seeds,
                                      uint64_t step = 1);

/// What a reader makes of a disk with one flipped bit.
enum class flip_outcome : uint8_t {
  found,     ///< Refused, an error, or a finding.
  unchanged, ///< Every answer is the right one.
  wrong,     ///< Some answer is not.
};

/// Judges a disk on which a bit of file `name` was flipped; may write on it.
using judge_flip
  = std::function<flip_outcome(memory_disk& disk, const std::string& name)>;

struct flip_report {
  struct tally {
    uint64_t flips = 0;
    uint64_t found = 0;
  };
  std::map<std::string, tally> files;
  std::string failures; ///< As of `trial_report`.
};

/// Flips a random bit of bytes 0, s, 2s ... of every file, one at a time, where
/// s is the smallest step with at most `bytes_max` of them.
flip_report flip_bits(const memory_disk& sound, const judge_flip& judge,
                      uint64_t bytes_max, uint64_t seed);

/// Of the environment, for the long forms; else `otherwise`.
uint64_t number_from(const char* variable, uint64_t otherwise);

} // namespace weir::tests
