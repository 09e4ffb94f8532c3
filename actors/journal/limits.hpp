#pragma once

#include <chrono>
#include <cstddef>

/// Limits of `actors/journal`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

using namespace std::chrono_literals;

/// Backfill pauses while LevelDB has this number of files to merge, because it
/// slows down all writes from eight files on. After this time the JOURNAL looks
/// again.
constexpr int level0_files_pause = 6;
constexpr auto journal_pause = 20ms;

/// Content bytes of backfill work in one JOURNAL batch.
constexpr size_t journal_backfill_bytes_max = 262'144;

/// Updates in one JOURNAL batch, and their content bytes.
constexpr size_t journal_updates_max = 1'024;
constexpr size_t journal_bytes_max = 4'194'304;

} // namespace weir::limits
