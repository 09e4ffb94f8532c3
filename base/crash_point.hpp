#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Named moments at which a process can be told to die, so that tests kill it
/// exactly where a crash hurts most (testing.md, Kills).
///
/// # Operation
/// `WEIR_CRASH_AT=name:n` in the environment ends the process at the n-th
/// passage of that point as SIGKILL does: nothing is flushed, no destructor
/// runs. `name:n:mark` counts only passages with that mark. The variable is
/// read once, before `main`; a value that names no point ends the process with
/// status 2. Without it a passage costs one branch.
///
/// `WEIR_THROW_AT`, of the same form, throws at the first n passages, as a bug
/// would: of an actor that passes there it is the end.
///
/// # Threads
/// Points are passed on any thread.
namespace weir {

/// docs/testing.md says what each is; tests/system/kill_test.cpp dies at all.
enum class crash_point : uint8_t {
  store_claimed,
  store_recovered,
  store_opened,
  filter_written,
  journal_batch,
  journal_written,
  journal_told,
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
};

inline constexpr std::array<std::string_view, 22> crash_point_names{
  "store.claimed",  "store.recovered", "store.opened",  "filter.written",
  "journal.batch",  "journal.written", "journal.told",  "synced.batch",
  "synced.written", "erase.batch",     "erase.written", "import.chunk",
  "spool.written",  "cursor.written",  "ack.taken",     "ack.written",
  "listing.page",   "disk.resumed",    "frame.taken",   "sweep.step",
  "sweep.written",  "sweep.compacted"};

static_assert(crash_point_names.size()
              == static_cast<size_t>(crash_point::sweep_compacted) + 1);

/// Where a process is to die.
struct crash_plan {
  crash_point at{};
  uint64_t passage = 1;
  std::string mark; ///< Empty: any passage counts.
};

/// Reads `name:n` or `name:n:mark`, n from 1; nothing when it is neither.
std::optional<crash_plan> parse_crash_plan(std::string_view text);

namespace detail {

/// Whether the environment has a plan.
extern const bool crash_armed;

void pass_armed(crash_point x, std::string_view mark);

} // namespace detail

/// Lives on, unless the plan says that it ends here.
inline void pass(crash_point x, std::string_view mark = {}) {
  if (detail::crash_armed) [[unlikely]]
    detail::pass_armed(x, mark);
}

/// The same where it takes work to know whether the point is passed at all.
template <std::predicate Condition>
void pass_if(crash_point x, Condition passed) {
  if (detail::crash_armed) [[unlikely]]
    if (passed())
      detail::pass_armed(x, {});
}

} // namespace weir
