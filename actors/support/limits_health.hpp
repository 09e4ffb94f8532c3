#pragma once

#include <chrono>
#include <cstddef>

/// Bounds that `actors/support` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

// -- the wall clock -----------------------------------------------------------

/// So many signers of one stream must be beyond our clock before it is doubted.
constexpr size_t clock_signers_min = 8;

/// Of a relay so many hosts must have been heard, and be beyond: the accounts
/// of one may all be its own. The same holds for streams with fewer signers,
/// which are judged together.
constexpr size_t clock_hosts_min = 2;

/// So many hosts of such streams are believed although most streams of the node
/// are silent; fewer must be most of its streams.
constexpr size_t clock_small_hosts_min = 8;

/// Hosts of one stream that are remembered, and signers of each: fair samples.
constexpr size_t clock_hosts_max = 64;
constexpr size_t clock_host_signers_max = 8;

/// For so long the date of the directory's answer tells what time it is.
constexpr auto clock_witness_memory = 10min;

/// For so long what a signer said counts.
constexpr auto clock_memory = 1min;

/// A clock that is doubted holds intake for so long; then signers are heard
/// again, or nobody could ever say that it is right.
constexpr auto clock_hold = 1min;

/// Then for so long. A doubt that nobody repeats meanwhile ends: what waits is
/// judged, and fetched when it is refused.
constexpr auto clock_hearing_max = 5min;

/// The wall clock was set when it has moved so much against the steady one.
constexpr auto clock_step = 1min;

// -- what fails ---------------------------------------------------------------

/// Fewer failures than this are nobody's health.
constexpr size_t health_failures_min = 5;

/// Subjects whose last outcome is remembered.
constexpr size_t health_subjects_max = 64;

/// Hosts that repos are fetched from: those that answered well when they were
/// last asked count as well, however long ago.
constexpr size_t health_hosts_max = 1'024;

/// For so long an outcome counts; while something is wrong, longer: what is
/// tried ever more rarely would seem well in between. But what has not failed
/// for the shorter time makes no node unready.
constexpr auto health_memory = 5min;
constexpr auto health_memory_failing = 1h;

/// A directory or resolver that never answered is a cause when it was asked so
/// long ago: whoever named a wrong address hears of it within ten seconds.
constexpr auto health_answer_grace = 5s;

/// A directory, or the listing of an upstream, that asks not to be asked for so
/// long is a cause.
constexpr std::chrono::seconds health_rest_min = 1min;

/// A stream that is not connected for so long is a cause; so is one that has
/// not been connected for as long since.
constexpr auto health_upstream_grace = 5s;

/// While the directory fails, or our clock is in doubt, it is asked so often
/// for a document that it should have.
constexpr auto health_probe_interval = 15s;

/// So many accounts that it had are kept to measure it by. When it finds nobody
/// it is asked for each of them, one after the other, as often; and once after
/// a start: they suffice to name it.
constexpr size_t health_known_max = health_failures_min;

/// It is well again when nothing failed there for so long, and so many look-ups
/// succeeded.
constexpr auto health_calm = 1min;
constexpr size_t health_successes_min = 3;

/// Of an error's text, which others may have written.
constexpr size_t health_text_bytes_max = 200;

} // namespace weir::limits
