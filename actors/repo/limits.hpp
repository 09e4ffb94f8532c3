#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Limits of `actors/repo`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

using namespace std::chrono_literals;

/// Commits of one DID that wait in memory for its identity or a backfill.
constexpr size_t repo_waiting_commits_max = 256;
constexpr size_t repo_waiting_bytes_max = 1'048'576;

/// Commits that a REPO may refuse in one turn; each costs as much as a valid
/// one.
constexpr size_t repo_refusals_a_turn = 8;

/// Fetches of one repo within `refetch_pause` before a further one waits: a few
/// follow at once, because a repo may change while it is fetched.
constexpr size_t refetch_burst_max = 4;

/// Look-ups in one `identity_refresh_min`.
constexpr size_t refresh_burst_max = 10;

/// A commit that waits longer than this for its identity goes to the sync
/// buffer.
constexpr auto repo_wait_max = 2s;

/// A frame whose rev is ahead of our clock waits this long for frames of other
/// accounts, which show whether our clock is at fault. Its stream waits, too,
/// so the time is short; on a busy stream enough others sign in it.
constexpr auto repo_clock_wait_max = 2s;

/// Sync buffer of a repo on disk. A byte more discards it: the repo has a gap.
constexpr uint64_t repo_disk_buffer_bytes_max = 268'435'456;

/// When SUPERVISOR had no room for a question, it is repeated after this time.
constexpr std::chrono::minutes account_question_pause{5};

/// Number of #account events of PDSs that are kept for one account until its
/// document arrives, one for each stream. A further one replaces the oldest.
constexpr size_t held_words_max = 16;

/// Interval at which a repo checks whether to give up commits that wait.
constexpr auto document_wait_check_interval = 5s;

/// An identity whose document may be outdated is looked up again after this
/// pause, then after twice the previous pause, and so on: for about six hours.
/// The first `second_looks_kept` of these look-ups survive a crash.
constexpr auto second_look_pause = 5s;
constexpr uint32_t second_looks_max = 12;
constexpr uint32_t second_looks_kept = 4;

/// A repo whose gap opens again is fetched after the shortest pause, then after
/// twice the previous pause, up to the longest.
constexpr auto gap_pause_min = 60s;
constexpr auto gap_pause_max = 1h;

/// After this number of failed fetches, the older rev that the host serves is
/// accepted, although a listing named a newer one. Otherwise a false listing
/// could keep a repo out of sync for long.
constexpr uint32_t listed_rev_tries_max = 1;

/// For this long, a relay that lists a disproved rev again is ignored.
constexpr auto disproved_rev_memory = 1h;

/// Interval at which a frame that waits for a correct clock is judged again.
constexpr auto clock_check_interval = 1s;

/// A fetch that failed only because of our clock is wished for again after this
/// time. While the node takes in nothing because of its clock, the fetch waits
/// in the queue. While signers are being counted, the fetch is made again, and
/// its rev is one more piece of evidence about the time.
constexpr auto clock_refetch_wait = 5s;

} // namespace weir::limits
