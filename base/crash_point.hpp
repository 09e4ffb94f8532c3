#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Named moments at which a process can be made to die, so that tests kill it
/// exactly where a crash could do most harm (testing.md, Kills).
///
/// # Operation
/// `WEIR_CRASH_AT=name:n` in the environment kills the process at the n-th
/// passage of that point, as SIGKILL does: nothing is flushed and no destructor
/// runs. `name:n:mark` counts only passages with that mark. The variable is
/// read once, before `main`; a value that names no point ends the process with
/// status 2. Without the variable a passage costs one branch.
///
/// `WEIR_THROW_AT` has the same form. It throws an exception at each of the
/// first n passages, as a bug would; this ends the actor that passes there.
///
/// # Threads
/// Any thread may pass a point.
namespace weir {

/// docs/testing.md describes each point; tests/system/kill_test.cpp crashes a
/// node at every one.
enum class crash_point : uint8_t {
  store_claimed,
  store_recovered,
  store_opened,
  filter_written,
  journal_batch,
  journal_written,
  journal_published,
  synced_batch,
  synced_written,
  erase_batch,
  erase_written,
  import_chunk,
  spool_written,
  cursor_written,
  ack_taken,
  ack_written,
  listing_page,
  disk_resumed,
  frame_taken,
  sweep_step,
  sweep_written,
  sweep_compacted,
  backup_file,
};

inline constexpr std::array<std::string_view, 23> crash_point_names{
  "store.claimed",  "store.recovered", "store.opened",  "filter.written",
  "journal.batch",  "journal.written", "journal.published",  "synced.batch",
  "synced.written", "erase.batch",     "erase.written", "import.chunk",
  "spool.written",  "cursor.written",  "ack.taken",     "ack.written",
  "listing.page",   "disk.resumed",    "frame.taken",   "sweep.step",
  "sweep.written",  "sweep.compacted", "backup.file"};

static_assert(crash_point_names.size()
              == static_cast<size_t>(crash_point::backup_file) + 1);

/// The point and the time at which the process is to die.
struct crash_plan {
  crash_point at{};
  uint64_t passage = 1;
  std::string mark; ///< Empty: any passage counts.
};

/// Reads `name:n` or `name:n:mark` with n from 1. Returns nothing for any other
/// text.
std::optional<crash_plan> parse_crash_plan(std::string_view text);

namespace detail {

/// True when one of the two variables holds a plan.
extern const bool crash_armed;

void pass_armed(crash_point x, std::string_view mark);

} // namespace detail

/// Marks a passage of `x`. It returns, unless the plan ends the process here.
inline void pass(crash_point x, std::string_view mark = {}) {
  if (detail::crash_armed) [[unlikely]]
    detail::pass_armed(x, mark);
}

/// Like `pass`, for a point whose condition is expensive to compute: it is
/// evaluated only when a plan is set.
template <std::predicate Condition>
void pass_if(crash_point x, Condition passed) {
  if (detail::crash_armed) [[unlikely]]
    if (passed())
      detail::pass_armed(x, {});
}

} // namespace weir
