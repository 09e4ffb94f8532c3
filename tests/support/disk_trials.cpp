#include "tests/support/disk_trials.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace weir::tests {

namespace {

constexpr size_t failures_bytes_max = 4'000;

void note(std::string& failures, const std::string& trial,
          const std::string& what) {
  if (!what.empty() && failures.size() < failures_bytes_max)
    failures += trial + ": " + what + "\n";
}

/// Says what is wrong with an error that does not tell what happened and where;
/// empty when it does.
std::string judge_error(const error& x, const fault_plan& how,
                        const std::string& directory) {
  const bool full = how.error == io_error::no_space;
  if (x.context.find(directory) == std::string::npos)
    return "an error that names no place: " + to_string(x);
  if ((how.kinds & kind_bit(io_call::exists)) != 0)
    return ""; // `exists` cannot return the cause.
  if (x.context.find(std::strerror(full ? ENOSPC : EIO)) == std::string::npos
      || x.code != (full ? ec::disk_full : ec::storage_failure))
    return "an error that hides its cause: " + to_string(x);
  return "";
}

} // namespace

trial_report fail_every_call(const make_workload& make, fault_plan how,
                             const std::string& directory, uint64_t step) {
  trial_report out;
  for (how.nth = 1;; how.nth += step) {
    memory_disk disk;
    fault_env faults{disk};
    faults.plan(how);
    const auto work = make();
    const auto done = work->run(faults);
    const auto trial = "call " + std::to_string(how.nth);
    const bool reached = faults.reached();
    faults.heal();
    if (!done)
      note(out.failures, trial,
           reached ? judge_error(done.error(), how, directory)
                   : "failed by itself: " + to_string(done.error()));
    note(out.failures, trial, work->examine(faults));
    if (!reached)
      return out;
    ++out.trials;
    out.errors += done ? 0 : 1;
  }
}

trial_report lose_power_at_every_call(const make_workload& make,
                                      const power_loss& how, uint64_t seeds,
                                      uint64_t step) {
  trial_report out;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    for (uint64_t nth = 1;; nth += step) {
      const auto random = seeded_random(seed << 32 | nth);
      memory_disk disk;
      fault_env faults{disk};
      faults.plan({.nth = nth, .instead = [&] {
                     disk.cut_power(*random, how);
                   }});
      const auto work = make();
      const auto done = work->run(faults);
      if (!faults.reached())
        break;
      disk.power_on();
      note(out.failures,
           "seed " + std::to_string(seed) + ", call " + std::to_string(nth),
           work->examine(disk));
      ++out.trials;
      out.errors += done ? 0 : 1;
    }
  }
  return out;
}

flip_report flip_bits(const memory_disk& sound, const judge_flip& judge,
                      uint64_t bytes_max, uint64_t seed) {
  const auto random = seeded_random(seed);
  flip_report out;
  for (const auto& name : sound.names()) {
    const auto size = sound.read(name).size();
    const auto step = std::max<uint64_t>(1, (size + bytes_max - 1) / bytes_max);
    auto& tally = out.files[name];
    for (uint64_t at = 0; at < size; at += step) {
      const auto bit = static_cast<unsigned>(random->below(8));
      const auto disk = sound.clone();
      disk->flip_bit(name, at, bit);
      const auto outcome = judge(*disk, name);
      ++tally.flips;
      tally.found += outcome == flip_outcome::found ? 1 : 0;
      if (outcome == flip_outcome::wrong)
        note(out.failures, name,
             "a wrong answer after bit " + std::to_string(bit) + " of byte "
               + std::to_string(at) + " of " + std::to_string(size));
    }
  }
  return out;
}

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const auto* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

} // namespace weir::tests
