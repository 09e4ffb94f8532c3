#pragma once

#include <chrono>
#include <cstddef>

/// Limits of `actors/identity`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

using namespace std::chrono_literals;

constexpr size_t handle_body_bytes_max = 2'048;

/// One look-up of a document or handle (protocol-coverage.md 8.2).
constexpr auto identity_timeout = 10s;

/// DIDs in memory, DIDs that wait or are looked up, look-ups on the network.
constexpr size_t identity_cached_max = 65'536;
constexpr size_t identity_waiting_max = 100'000;
constexpr size_t identity_in_flight_max = 64;

/// Look-ups a second at first: a few hundred repos take seconds.
constexpr double plc_pace_start = 200;

/// Slow answers do not lower the rate below this number of look-ups a second. A
/// directory that limits us may be asked for fewer.
constexpr double plc_pace_min = 20;

/// What is left of the rate after an answer that was slow or did not come, and
/// after one that limits us; and the part of the highest rate that each step up
/// adds once the rate was lowered.
constexpr double plc_slow_part = 0.7;
constexpr double plc_limited_part = 0.5;
constexpr double plc_step_part = 0.01;

/// The rate grows at most once in this time.
constexpr std::chrono::milliseconds plc_pace_interval = 200ms;

/// An answer that takes longer than this is slow. The wait for a free
/// connection to the directory counts as well.
constexpr std::chrono::milliseconds plc_prompt = 2s;

/// How long a directory that limits us is not asked: as long as its answer
/// says, within these bounds. Else nobody would see whether it works again.
constexpr std::chrono::seconds plc_rest_min = 1s;
constexpr std::chrono::seconds plc_rest_max = 1h;

/// After this number of failures in a row, a success ends the pauses of the
/// DIDs that failed before, at most once in `lookup_pause_max`.
constexpr size_t lookup_forgiven_min = 16;

/// The longest pause before a failed look-up is repeated: the directory or a
/// host may be well again.
constexpr auto lookup_pause_max = 5min;

/// Number of identities whose failure is remembered, and about how many bytes
/// one of them takes.
constexpr size_t lookup_failures_max = 65'536;
constexpr size_t lookup_failure_bytes = 384;

/// Bytes kept of the reason for a failure: enough to tell errors apart.
constexpr size_t lookup_cause_bytes_max = 96;

/// Share of the budget for identities whose last look-up failed.
constexpr double retry_share = 0.25;

/// Look-ups at the hosts of did:web names, which belong to their owners: they
/// have this part of the numbers for the directory, for look-ups that run and
/// that wait, and this part of the budget when both want it.
constexpr size_t web_part = 4;

/// Size limit of a page. An operation has well below a kilobyte, and at most
/// 7,500 bytes as DAG-CBOR: a page of such is requested in pieces.
constexpr size_t export_page_bytes_max = 4'194'304;
constexpr auto export_page_timeout = 60s;

/// The smallest piece. Its operations fit into a page, however large they are.
constexpr size_t export_page_lines_min = 60;

/// Pages may be smaller than requested, but not all of them: the export is left
/// after this number of requests for each page that the wanted names are worth,
/// and `export_requests_min` more.
constexpr size_t export_requests_per_page = 4;
constexpr size_t export_requests_min = 16;

/// The export is read when at least `export_wanted_min` names were looked up,
/// and at least `export_wanted_per_page` for each of its pages. A page has as
/// many bytes as 300 documents or more, and a directory that allows 500 pages
/// in five minutes allows 300 look-ups in the time of one page.
constexpr size_t export_wanted_min = 1'000;
constexpr size_t export_wanted_per_page = 300;

/// Average number of pages a second, a little below the 500 in five minutes
/// that the public directory allows, and the number of pages that may be read
/// without a pause: the whole export of a small network.
constexpr double export_pages_per_second = 1.5;
constexpr double export_pages_at_once = 50;

/// After a page failed, or when the export is too long for the number of wanted
/// names, the export is tried again after the shortest pause, then after twice
/// the previous pause, up to the longest.
constexpr auto export_pause_min = 5min;
constexpr auto export_pause_max = 24h;

/// For this long an export that was read to its end serves new repos. Their
/// document is older than one from a look-up, so a repo that moved since is
/// looked for at its former host. While many names are wanted, it is read on
/// after `export_again`: one to three pages on the public network.
constexpr auto export_fresh = 1h;
constexpr auto export_again = 10min;

/// DIDs that one turn of a READER looks up in the export, or removes from it.
constexpr size_t export_names_page = 1'000;

} // namespace weir::limits
