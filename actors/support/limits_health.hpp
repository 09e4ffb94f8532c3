#pragma once

#include <chrono>
#include <cstddef>

/// Limits of `actors/support`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

using namespace std::chrono_literals;

// -- the wall clock -----------------------------------------------------------

/// Number of signers of one stream whose revs must be later than our clock
/// before the clock is suspected.
constexpr size_t clock_signers_min = 8;

/// For a relay, accounts of this number of hosts must have been received with
/// revs later than our clock, because one host may own all of its accounts. The
/// same holds for streams with fewer signers, which are judged together.
constexpr size_t clock_hosts_min = 2;

/// This number of hosts of such small streams is enough although most streams
/// of the node are silent; fewer hosts must be most of its streams.
constexpr size_t clock_small_hosts_min = 8;

/// Hosts remembered for one stream, and signers for each host: random samples.
constexpr size_t clock_hosts_max = 64;
constexpr size_t clock_host_signers_max = 8;

/// Time for which the date in an answer of the directory counts as evidence.
constexpr auto clock_witness_memory = 10min;

/// Time for which the rev of a signer counts.
constexpr auto clock_memory = 1min;

/// Intake is stopped for this long when the clock is suspected. Then signers
/// are received again: otherwise nothing could show that the clock is right.
constexpr auto clock_hold = 1min;

/// Time for which signers are then received. A suspicion that is not confirmed
/// meanwhile ends: frames that wait are judged, and refused ones lead to a
/// fetch.
constexpr auto clock_hearing_max = 5min;

/// The wall clock counts as set when it moved by this much against the steady
/// clock.
constexpr auto clock_step = 1min;

// -- what fails ---------------------------------------------------------------

/// Fewer failures than this are no finding.
constexpr size_t health_failures_min = 5;

/// Subjects whose last outcome is remembered.
constexpr size_t health_subjects_max = 64;

/// Hosts that repos are fetched from. A host that answered well when it was
/// last asked also counts, however long ago that was.
constexpr size_t health_hosts_max = 1'024;

/// Time for which an outcome counts. While something fails the longer time
/// applies, because what is tried less and less often would otherwise seem well
/// in between. Something that has not failed for the shorter time does not make
/// a node unready.
constexpr auto health_memory = 5min;
constexpr auto health_memory_failing = 1h;

/// A directory or resolver that never answered is a finding this long after the
/// first question: an operator who configured a wrong address learns it within
/// ten seconds.
constexpr auto health_answer_grace = 5s;

/// A directory, or the listing of an upstream, is a finding when it asks for a
/// pause of at least this length.
constexpr std::chrono::seconds health_rest_min = 1min;

/// A stream that is not connected for this long is a finding. It stays one
/// until the stream was connected for as long.
constexpr auto health_upstream_grace = 5s;

/// While the directory fails, or our clock is suspected, the directory is asked
/// at this interval for a document that it should have.
constexpr auto health_probe_interval = 15s;

/// Number of known accounts that are kept for this test. When the directory
/// finds no DID, it is asked for each of them in turn at the same interval, and
/// once after a start. They are enough to make a finding.
constexpr size_t health_known_max = health_failures_min;

/// The directory counts as well again when nothing failed there for this time
/// and this number of look-ups succeeded.
constexpr auto health_calm = 1min;
constexpr size_t health_successes_min = 3;

/// A write to a store is a finding when it has not returned for this long. A
/// busy disk needs seconds at most for the largest group and its sync.
constexpr auto health_write_max = 15s;

/// Bytes kept of an error's text, which may come from outside.
constexpr size_t health_text_bytes_max = 200;

} // namespace weir::limits
