#pragma once

#include "base/option_range.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Limits of `actors/supervisor`: the value itself is allowed, value + 1 is
/// not.
namespace weir::limits {

using namespace std::chrono_literals;

/// Questions to hosts that wait or are under way, and answers that are
/// remembered. For both: the most of them, and about how many bytes each takes.
constexpr size_t account_questions_max = 16'384;
constexpr size_t account_question_bytes = 1'024;
constexpr size_t account_answers_kept_max = 65'536;
constexpr size_t account_answer_kept_bytes = 96;

/// A repo that a relay's listings leave out although its host has it: for at
/// least this time no host is asked again because of the same relay. As many
/// repos are remembered as answers, at about this many bytes each.
constexpr std::chrono::hours known_absence_memory{12};
constexpr size_t known_absence_bytes = 64;

/// Questions under way at once: of all, of hosts under one domain, of one host.
constexpr size_t account_questions_running_max = 16;
constexpr size_t account_questions_per_site_max = 4;
constexpr size_t account_questions_per_host_max = 2;

/// Hosts that rest because they failed or asked us to wait. Beyond that the
/// host with the shortest rest is forgotten.
constexpr size_t account_resting_hosts_max = 4'096;

/// A question to a host that does not answer is tried this many times in all,
/// with longer and longer waits, the first of this length.
constexpr size_t account_question_tries_max = 5;
constexpr std::chrono::seconds account_question_retry{30};
constexpr size_t account_answer_bytes_max = 65'536;

/// The row may date the first RepoNotFound to an earlier run of the node, and
/// the clock may have been corrected since. Therefore the host is asked again
/// no sooner than this part of the grace time (8: one eighth) after the start.
constexpr int gone_grace_part = 8;

/// The fewest DIDs that are remembered of one listing, eight bytes each.
constexpr size_t census_entries_min = 1'024;

// -- claims of listings and streams -------------------------------------------

/// Claims whose documents are requested at once: this many for all listings
/// together, and as many for all streams. The number is small so that turns
/// decide which claim is next, and not which one came a moment sooner.
constexpr size_t claims_asked_max = 16;

/// The most of these that belong to one listing or one stream.
constexpr size_t claims_asked_share = 12;

/// The most of these that are did:web names: anybody can run any number of
/// hosts that hang, and claim their names in any number of listings.
constexpr size_t claims_web_max = 4;

/// Claims beyond `claims_of_page_max` of a page, of all listings together.
constexpr size_t claims_spare_max = 65'536;

/// Every fourth turn goes to the next listing in order. All other turns go to
/// the listing for which the fewest documents were requested. So small hosts
/// are done soon, and large ones still go on.
constexpr size_t claims_even_turn = 4;

/// A listing may name an account as away whose tombstone is known. When the
/// tombstone is older than this, the directory is asked again. This does not
/// happen each time, since a host may list such accounts for ever.
constexpr auto gone_claim_interval = 1h;

/// DIDs of one PDS stream that wait for their documents: twelve seconds of 20
/// look-ups a second, which is the lowest rate to which a slow directory is
/// slowed. DIDs beyond that are left to the listing.
constexpr size_t stream_claims_max = 256;

/// The claims of all streams may use one quarter of the memory that the claims
/// of listings may use, in addition to it.
constexpr size_t stream_claims_part = 4;

/// The cost in bytes of a stream's claim, beside four texts of its DID.
/// SUPERVISOR and ROUTER each keep it.
constexpr size_t stream_claim_bytes = 512;

/// The longest rest of a stream whose claims are mostly false.
constexpr auto stream_mistrust_max = 1h;

/// Accounts of a listing whose documents are looked at before the configured
/// origin of its host is called wrong. Suppose half of a host's accounts have
/// moved away and it still calls them active: then only one of 65,000 listings
/// has none among its first 16 that is still there.
constexpr size_t origin_accounts_max = 16;

/// Documents that are requested at once to check origins, of all upstreams: in
/// addition to the claims of listings, with which they share their turn.
constexpr size_t origin_asked_max = 8;

/// A document that names another host and is older than the page is fetched
/// anew, at most this many times.
constexpr size_t origin_looks_max = 2;

// -- looks at all rows --------------------------------------------------------

/// The time from the end of one look at all rows to the begin of the next,
/// while something is incomplete and when nothing is. Both are minimums;
/// `completeness_interval` makes them longer.
constexpr std::chrono::seconds completeness_pause{5};
constexpr std::chrono::seconds completeness_pause_whole{30};
constexpr option_seconds completeness_interval_range{
  completeness_pause, std::chrono::hours{720}, completeness_pause};

/// A page is followed by a pause of `completeness_rest_part` times the time
/// that the page took, so that a store of any size is read for less than a
/// fiftieth of the time. The pause is at most `completeness_pause_max`, which
/// belongs to a page of one minute.
constexpr int completeness_rest_part = 50;
constexpr std::chrono::seconds completeness_pause_max{3'000};

/// REPOs that are woken in each interval to see what they lack. An idle REPO
/// stays in memory for ten minutes; in that time fewer are woken than one
/// ROUTER shard keeps. The interval is no longer than `completeness_pause`, so
/// that the first repo that had to wait can always be woken in the next look.
constexpr size_t completeness_wakes_max = 128;
constexpr std::chrono::seconds completeness_wake_interval = completeness_pause;

/// A REPO is woken because a look-up is due while its page of rows has fewer
/// repos than this: a quarter of `completeness_wakes_max`, so that others have
/// their share.
constexpr size_t completeness_due_max = completeness_wakes_max / 4;

/// When a host has more repos to ask about than this part of its hourly
/// questions (`uncovered_asked_per_host`), the repos are split into parts and
/// each hour asks about another part. The value 2 means half: by chance some
/// parts are larger than others.
constexpr size_t completeness_ask_part = 2;

/// When this many repos were fetched and `collections` keeps no record of any
/// of them, the setting is probably a mistake, and the log warns of it.
constexpr uint64_t kept_nothing_repos_min = 100;

// -- repos that no upstream covers --------------------------------------------

/// The time from one lap to the next; `listing_interval`, if that is shorter.
constexpr std::chrono::minutes uncovered_interval{60};

/// The first lap begins one to two 60ths of the interval after the start, so
/// that changes from the time when the node was down are known soon.
constexpr int uncovered_first_part = 60;

/// Later laps begin up to one quarter of the interval sooner, at random, so
/// that nodes that were started together do not ask together.
constexpr int uncovered_jitter_part = 4;

/// Repos of one host that are asked about in an hour, on average: hosts
/// commonly allow 36,000 requests. When a host has more repos, each lap asks
/// about another part of them. The size of the parts follows from how many
/// repos the host had in the last lap, so a lap may ask more than the average,
/// but never more than `uncovered_burst` times as much.
constexpr size_t uncovered_asked_per_host = 1'000;
constexpr size_t uncovered_burst = 2;

/// The fewest repos of a host that a lap asks about, with a short interval.
constexpr size_t uncovered_asked_per_lap_min = 8;

/// Hosts are told apart by a hash with this many values, which bounds the
/// memory. Two hosts with the same value share a budget.
constexpr size_t uncovered_host_slots = 4'096;

/// The most questions from one page of rows, and the pause after a page that
/// had questions. At this pace 100,000 repos take about half an hour.
constexpr size_t uncovered_page_max = 128;
constexpr std::chrono::seconds uncovered_page_pause{2};

} // namespace weir::limits
