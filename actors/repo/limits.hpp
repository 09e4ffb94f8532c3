#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds that `actors/repo` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// Commits of one DID waiting in memory for identity or a backfill.
constexpr size_t repo_waiting_commits_max = 256;
constexpr size_t repo_waiting_bytes_max = 1'048'576;
constexpr size_t refresh_burst_max = 10; ///< In `identity_refresh_min`.

/// A commit waiting longer goes to the sync buffer on disk.
constexpr auto repo_wait_max = 2s;

/// Sync buffer on disk, per repo; one byte more discards it (gap).
constexpr uint64_t repo_disk_buffer_bytes_max = 268'435'456;

/// A question that found no place is asked again after this.
constexpr std::chrono::minutes account_question_pause{5};

/// Words of PDSes on an account that wait for its document, one for each
/// stream; of one more the oldest is forgotten.
constexpr size_t held_words_max = 16;

/// A repo that keeps some looks so often whether it must give them up.
constexpr auto doubt_check_interval = 5s;

/// An identity whose document may have been an old one is looked up again after
/// this pause, then after twice the last one: for about six hours. The first
/// ones outlive a crash.
constexpr auto second_look_pause = 5s;
constexpr uint32_t second_looks_max = 12;
constexpr uint32_t second_looks_kept = 4;

/// A gap that opens again is fetched after the shortest pause, then after twice
/// the last one, up to the longest.
constexpr auto gap_pause_min = 60s;
constexpr auto gap_pause_max = 1h;

/// After so many failures the older rev that the host serves is believed, though
/// a listing showed another: whoever lists what is not so must not keep a repo
/// from its commits for long.
constexpr uint32_t listed_rev_tries_max = 1;

/// For so long a relay that lists the same rev again is not heard.
constexpr auto disproved_rev_memory = 1h;

/// How often whoever waits for a right clock looks at it.
constexpr auto clock_check_interval = 1s;

/// A fetch for which only our clock was in the way is wished again after this.
/// While intake is held it waits in the queue; while signers are heard it is made
/// again, and counts as a word about the time.
constexpr auto clock_refetch_wait = 5s;

} // namespace weir::limits
