#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds that `actors/supervisor` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// A host that has such a part of the permits gets no further one while a host
/// that has less waits; the same of the repos that are looked up. Rounded up.
constexpr size_t fair_part = 8;

/// A permit beyond that part is kept for so long when a host with less waits:
/// most downloads are over by then, and nobody waits for long.
constexpr std::chrono::microseconds fetch_keep_min = 1s;

/// When a host with less than that part had to wait, the last permit is kept
/// from those who gave one back, so that the next host need not wait: for so
/// long after it was used.
constexpr std::chrono::microseconds fetch_reserve_time = 10s;

/// A host that had to give one back comes last for so long when permits beyond
/// its part are given.
constexpr std::chrono::microseconds fetch_modest_time = 5min;

/// So often repos are looked for whose fetch is due.
constexpr std::chrono::seconds retry_scan = 30s;

/// Whose wait ends before the next scan for retries is woken on time, all of so
/// long a time together.
constexpr std::chrono::microseconds fetch_wake_step = 1s;

/// So many-th look-up is for a repo that was fetched before, though new ones
/// wait.
constexpr size_t refetch_turn = 8;

/// Downloads are looked at after such a time, and are slow after so many of
/// them with too few bytes.
constexpr std::chrono::microseconds fetch_pace_window = 5s;
constexpr size_t fetch_pace_windows = 2;

/// Slow: below such a part of the median, and at least below the second, in
/// bytes a second.
constexpr uint64_t fetch_pace_part = 8;
constexpr uint64_t fetch_pace_floor = 32'768;

/// Downloads whose rates make the median: the last ones, so many of one host at
/// most, and only large ones, whose time is not the host's first answer.
constexpr size_t fetch_pace_samples_max = 64;
constexpr size_t fetch_pace_host_samples_max = 8;
constexpr uint64_t fetch_pace_sample_bytes_min = 262'144;

/// With fewer of them, the median is taken to be this.
constexpr size_t fetch_pace_samples_min = 8;
constexpr uint64_t fetch_pace_standard = 524'288;

/// A host that was too slow rests; doubles up to `host_rest_max`.
constexpr std::chrono::seconds host_slow_rest = 1min;

/// A host that was not tried lately answers within such a time, or its permit
/// goes to another that has none: a healthy one on the other side of the world
/// needs a second or two for name, connection, TLS and answer. The host is
/// then tried again, with all of `first_byte_timeout`.
constexpr std::chrono::microseconds fetch_answer_wait = 3s;

/// The same while more hosts without a permit wait than there are permits: a
/// crowd that never answers must not have minutes.
constexpr std::chrono::microseconds fetch_answer_wait_crowded = 1s;

/// Hosts whose last try ended without an answer have less than such a part of
/// the permits together, and at most such a part of the places of those that
/// wait for one, while others wait.
constexpr size_t fetch_silent_part = 2;

/// Such a part of both, one permit at least, is for hosts that answered the
/// last time, as long as they need it: names of new hosts cost nothing.
constexpr size_t fetch_answering_part = 4;

/// With one permit or two those parts leave none: a silent host, and one that
/// was not tried, has one nevertheless so long after the last one of its kind.
/// Twice what a try takes, so that others have half of the time.
constexpr std::chrono::microseconds fetch_silent_turn = 30s;
constexpr std::chrono::microseconds fetch_untried_turn = 6s;

/// A repo that did not fit into the queue is looked for in its row, which may not
/// be written yet: so it is looked for again so much later.
constexpr std::chrono::microseconds scan_again_after = 30s;

} // namespace weir::limits
