#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds of what a repo does while its identity cannot be had, and of fetches
/// that events ask for.
namespace weir::limits {

using namespace std::chrono_literals;

/// Words of PDSes on an account that wait for its document, one for each
/// stream; of one more the oldest is forgotten.
constexpr size_t held_words_max = 16;

/// Frames that wait for a document: what those of all repos may take, of
/// `memory_limit` and on disk, and which part of each those of one source (a
/// did:web's domain, else the stream) may have. Less than a 32nd of the memory:
/// or they alone could keep intake closed.
constexpr uint64_t doubt_memory_part = 64;
constexpr uint64_t doubt_disk_bytes_max = 268'435'456;
constexpr uint64_t doubt_source_part = 4;
/// A repo that keeps some looks so often whether it must give them up.
constexpr auto doubt_check_interval = 5s;

/// A look-up that failed is made again after the shortest pause, then after
/// twice the last one, up to the longest.
constexpr auto lookup_pause_min = 2s;
constexpr auto lookup_pause_max = 5min;
/// After so many failures in a row a success ends the pauses of those that
/// failed before, at most once in `lookup_pause_max`.
constexpr size_t lookup_forgiven_min = 16;

/// An identity whose document may have been an old one is looked up again after
/// this pause, then after twice the last one: for about six hours. The first
/// ones outlive a crash.
constexpr auto second_look_pause = 5s;
constexpr uint32_t second_looks_max = 12;
constexpr uint32_t second_looks_kept = 4;

/// Identities whose failure is remembered: the most, what one costs, about, and
/// the part of `memory_limit` that they may have.
constexpr size_t lookup_failures_max = 65'536;
constexpr size_t lookup_failure_bytes = 384;
constexpr size_t lookup_failures_memory_part = 256;

/// Of what is kept of why it failed: enough to tell errors from each other.
constexpr size_t lookup_cause_bytes_max = 96;

/// Of the budget, for identities whose last look-up failed.
constexpr double retry_share = 0.25;

/// Look-ups at the hosts of did:web names, each of which is its owner's: beside
/// those at the directory such a part of as many under way and waiting, and of
/// the budget when both want it.
constexpr size_t web_part = 4;

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

} // namespace weir::limits
