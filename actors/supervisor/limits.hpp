#pragma once

#include "base/option_range.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Limits of `actors/supervisor`: the value itself is allowed, value + 1 is
/// not.
namespace weir::limits {

using namespace std::chrono_literals;

/// Repos that wait in memory for a fetch. Repos beyond that are found again by
/// a scan of the store.
constexpr size_t fetch_queue_max = 1'000'000;

/// Repos whose host is being looked up, and hosts that the queue remembers.
constexpr size_t fetch_preparing_max = 64;
constexpr size_t fetch_hosts_max = 100'000;

/// A host rests after this many failures in a row. Each further rest is longer,
/// between these two times. The upper one also bounds Retry-After.
constexpr size_t host_failures_max = 5;
constexpr auto host_rest_min = 1s;
constexpr auto host_rest_max = 15min;

/// The rest of a host that answers 429 without Retry-After.
constexpr auto host_rate_limit_rest = 15s;

/// The most pages of one listing, and the most in a row without a new DID.
constexpr size_t listing_pages_max = 1'000'000;
constexpr size_t listing_idle_pages_max = 3;

/// The wait after a failed page. It doubles with each further failure.
constexpr auto listing_retry_min = 1s;
constexpr auto listing_retry_max = 60s;

/// The lines that we request per page, and the most lines and bytes that we
/// accept in one listing page (protocol-coverage.md 9).
constexpr size_t listing_page_asked = 1'000;
constexpr size_t listing_page_max = 10'000;
constexpr size_t listing_bytes_max = 2'097'152;
constexpr option_range<size_t> sync_parallelism_range{1, 256, 3};
constexpr option_range<size_t> sync_per_host_range{1, 64, 4};

/// Health names a listing as a cause when the listing is owed and this many of
/// its pages in a row failed.
constexpr size_t health_listing_failures_min = 3;

/// At most `fetch_lines_max` of the fetches that brought nothing are named in
/// the log per `fetch_lines_interval`.
constexpr uint64_t fetch_lines_max = 100;
constexpr auto fetch_lines_interval = 60s;

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
constexpr std::chrono::microseconds fetch_answer_wait_busy = 1s;

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

/// Listing pages that an upstream is asked for in an hour. With 50 pages, a
/// thousand repos are compared every minute or two, and a million daily.
constexpr option_range<size_t> listing_requests_range{1, 100'000, 50};

/// The shortest time from the end of a listing to the next one by interval,
/// however few pages it has.
constexpr option_seconds listing_pause_range{0s, 720h, 0s};

/// The rest of an upstream whose listing makes mostly false claims. It doubles
/// with each further page, up to the interval of audits.
constexpr auto listing_mistrust_min = 60s;

/// What a listing remembers of its last pages, to notice circles: this many
/// hashes of eight bytes, two for each page, so 2 KiB for each listing.
constexpr size_t listing_seen_max = 256;

/// DIDs that a listing remembers of those that it named, as hashes of eight
/// bytes, so 8 KiB for each listing. They are a fair sample, from which the
/// number of distinct DIDs follows within a few percent.
constexpr size_t listing_names_max = 1'024;
/// A listing may name repos again as often as it named repos for the first
/// time, and this many times more. It is the length of the longest page, so
/// that any one page may come twice.
constexpr size_t listing_again_max = 10'000;

/// The lines that we request per page when its accounts are asked about one by
/// one. The page is small because that work is lost when the page fails.
constexpr size_t described_page_asked = 100;

/// The most bytes of a describeRepo answer, which has the document of the
/// account and the name of each collection.
constexpr size_t describe_bytes_max = 131'072;

/// After this many accounts in a row without an answer the host counts as away
/// or broken. Otherwise all remaining accounts would be taken to have no
/// records.
constexpr size_t describe_failures_max = 4;

/// When a host has described no account and tracked accounts were on its pages,
/// this many accounts that it lists as active have to be denied before the host
/// is disbelieved. Fewer may really be gone.
constexpr size_t describe_absent_min = 4;

/// Accounts of one PDS that wait to be asked about because they are active
/// again: as many as a page has, with one request each. They have a budget of
/// their own, one request in `returned_pause`: accounts return rarely, and a
/// new account is found by its commit.
constexpr size_t returned_accounts_max = described_page_asked;
constexpr std::chrono::microseconds returned_pause = std::chrono::seconds{30};

/// The tries in all for such an account whose host fails. After them the next
/// listing has to find it.
constexpr size_t returned_tries_max = 3;

} // namespace weir::limits
