#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds that `actors/supervisor` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// A host that has this part of the permits (8: one eighth, rounded up) gets no
/// further permit while a host that has less waits. The same holds for the
/// repos whose hosts are looked up.
constexpr size_t fair_part = 8;

/// A host may keep a permit beyond its part for this time although a host with
/// less waits: most downloads are over by then, and the wait stays short.
constexpr std::chrono::microseconds fetch_keep_min = 1s;

/// When a host with less than its part had to wait, the last free permit is
/// kept for this time from the hosts that gave one back, so that the next host
/// need not wait. The time begins anew when the permit is used.
constexpr std::chrono::microseconds fetch_reserve_time = 10s;

/// For this time after a host had to give a permit back, it comes last when
/// permits beyond its part are given.
constexpr std::chrono::microseconds fetch_modest_time = 5min;

/// The interval at which the store is searched for repos whose fetch is due.
constexpr std::chrono::seconds retry_scan = 30s;

/// A repo whose wait ends before the next scan for retries is woken on time.
/// All repos whose waits end within the same step are woken together.
constexpr std::chrono::microseconds fetch_wake_step = 1s;

/// Every eighth look-up is for a repo that was fetched before, even while new
/// repos wait.
constexpr size_t refetch_turn = 8;

/// The rate of a download is measured over windows of this length. It is slow
/// after this many windows in a row with too few bytes.
constexpr std::chrono::microseconds fetch_pace_window = 5s;
constexpr size_t fetch_pace_windows = 2;

/// A download is slow below one eighth of the median rate, and always below
/// `fetch_pace_floor`. Rates are in bytes a second.
constexpr uint64_t fetch_pace_part = 8;
constexpr uint64_t fetch_pace_floor = 32'768;

/// The downloads whose rates make the median: the last 64, at most eight of one
/// host, and only large ones, because the rate of a small one mostly shows how
/// long the host took to answer.
constexpr size_t fetch_pace_samples_max = 64;
constexpr size_t fetch_pace_host_samples_max = 8;
constexpr uint64_t fetch_pace_sample_bytes_min = 262'144;

/// With fewer samples than this, the median is taken to be
/// `fetch_pace_standard` bytes a second.
constexpr size_t fetch_pace_samples_min = 8;
constexpr uint64_t fetch_pace_standard = 524'288;

/// The rest of a host that was too slow. It doubles up to `host_rest_max`.
constexpr std::chrono::seconds host_slow_rest = 1min;

/// A host that was not tried lately has to answer within this time, or its
/// permit goes to a host that has none. A healthy host on the other side of the
/// world needs a second or two for name, connection, TLS and answer. The host
/// is then tried again, with all of `first_byte_timeout`.
constexpr std::chrono::microseconds fetch_answer_wait = 3s;

/// The same time while more hosts without a permit wait than there are permits:
/// many hosts that never answer must not delay the others for minutes.
constexpr std::chrono::microseconds fetch_answer_wait_crowded = 1s;

/// While others wait, the hosts whose last try ended without an answer have
/// together less than this part of the permits (2: half), and at most this part
/// of the places for repos that wait for one.
constexpr size_t fetch_silent_part = 2;

/// This part of the permits and of the places (4: a quarter), at least one
/// permit, is kept for hosts that answered the last time, as long as they need
/// it: names of new hosts cost an attacker nothing.
constexpr size_t fetch_answering_part = 4;

/// With only one or two permits these parts leave silent and untried hosts
/// none. Such a host gets a permit nevertheless when this time has passed since
/// the last one of its kind started. It is twice what a try takes, so that the
/// other hosts have half of the time.
constexpr std::chrono::microseconds fetch_silent_turn = 30s;
constexpr std::chrono::microseconds fetch_untried_turn = 6s;

/// A repo that did not fit into the queue is found again by its row. The row
/// may not be written yet when the next lap reads it, so another lap follows
/// after this time.
constexpr std::chrono::microseconds scan_again_after = 30s;

} // namespace weir::limits
