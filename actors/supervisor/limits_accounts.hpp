#pragma once

#include <chrono>
#include <cstddef>

/// Bounds that `actors/supervisor` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// Questions that wait or are under way, and what was asked of late; what one
/// costs, about, and the parts of `memory_limit` that they may have.
constexpr size_t account_questions_max = 16'384;
constexpr size_t account_question_bytes = 1'024;
constexpr size_t account_questions_memory_part = 128;
constexpr size_t account_answers_kept_max = 65'536;
constexpr size_t account_answer_kept_bytes = 96;
constexpr size_t account_answers_memory_part = 512;

/// Repos that a relay's listings leave out though their hosts have them: for so
/// long, at least, no host is asked again because of the same relay. As many as
/// answers are remembered, at about this cost.
constexpr std::chrono::hours known_absence_memory{12};
constexpr size_t known_absence_bytes = 64;

/// At a time: of all, of hosts under one domain, of one host.
constexpr size_t account_questions_running_max = 16;
constexpr size_t account_questions_per_site_max = 4;
constexpr size_t account_questions_per_host_max = 2;

/// Hosts that rest because they failed or asked us to wait.
constexpr size_t account_resting_hosts_max = 4'096;

/// A host that does not answer is asked so often, with longer and longer waits.
constexpr size_t account_question_tries_max = 5;
constexpr std::chrono::seconds account_question_retry{30};
constexpr size_t account_answer_bytes_max = 65'536;

/// By its row it may have been said the first time in an earlier life. The
/// clock may have been put right since, so it is asked no sooner than this part
/// of that time after the start.
constexpr int gone_grace_part = 8;

/// Of `memory_limit`: the DIDs of a listing under way, eight bytes each.
constexpr size_t census_memory_part = 128;
constexpr size_t census_entries_min = 1'024;

} // namespace weir::limits
