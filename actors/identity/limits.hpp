#pragma once

#include <chrono>
#include <cstddef>

/// Bounds that `actors/identity` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

constexpr size_t handle_body_bytes_max = 2'048;

/// One look-up of a document or handle (protocol-coverage.md 8.2).
constexpr auto identity_timeout = 10s;

/// DIDs in memory, DIDs being resolved or queued, look-ups on the wire.
constexpr size_t identity_cached_max = 65'536;
constexpr size_t identity_waiting_max = 100'000;
constexpr size_t identity_in_flight_max = 64;

/// Look-ups a second at first: a few hundred repos are there in seconds.
constexpr double plc_pace_start = 200;

/// The fewest look-ups a second because of slow answers. One that limits us may
/// be asked for fewer.
constexpr double plc_pace_min = 20;

/// The rate grows at most once in so long.
constexpr std::chrono::milliseconds plc_pace_interval = 200ms;

/// An answer that takes longer is slow. The wait for a free connection to the
/// directory counts as well.
constexpr std::chrono::milliseconds plc_prompt = 2s;

/// How long a directory that limits us is not asked: as long as it says, but at
/// least and at most so long. Without a look-up now and then nobody would see
/// that it is well again, nor be told that it is not.
constexpr std::chrono::seconds plc_rest_min = 1s;
constexpr std::chrono::seconds plc_rest_max = 1h;

/// After so many failures in a row a success ends the pauses of those that
/// failed before, at most once in `lookup_pause_max`.
constexpr size_t lookup_forgiven_min = 16;

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

/// What a page may have. One operation is well below a kilobyte and 7,500 bytes
/// at most, as DAG-CBOR: a page of such ones is asked for in smaller pieces.
constexpr size_t export_page_bytes_max = 4'194'304;
constexpr auto export_page_timeout = 60s;

/// The smallest piece. Its operations fit, however large they are.
constexpr size_t export_page_lines_min = 60;

/// The export is read when so many names were looked up, at least, and not
/// fewer than so many for each page of it: a page is as many bytes as 300
/// documents or more, and a directory that gives 500 pages in five minutes
/// gives 300 documents in the time of a page.
constexpr size_t export_wanted_min = 1'000;
constexpr size_t export_wanted_per_page = 300;

/// Pages a second over the time, a little below the 500 in five minutes that
/// the public directory gives, and how many may come at once: the whole export
/// of a small network.
constexpr double export_pages_per_second = 1.5;
constexpr double export_pages_at_once = 50;

/// After a page that failed, or when the export is too long for what is wanted,
/// looked at again after the shortest pause, then after twice the last one, up
/// to the longest.
constexpr auto export_pause_min = 5min;
constexpr auto export_pause_max = 24h;

/// What was read to its end serves newcomers for so long: they have an older
/// document than by a look-up, and who moved since is looked for in the wrong
/// place. While many are wanted it is read on after this time, which is a page
/// or three on the public network.
constexpr auto export_fresh = 1h;
constexpr auto export_again = 10min;

/// DIDs that are asked for, or forgotten, in one turn of a READER.
constexpr size_t export_names_page = 1'000;

} // namespace weir::limits
