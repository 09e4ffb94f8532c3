#pragma once

#include "base/limits.hpp"

#include <chrono>
#include <cstddef>

/// Bounds of asking hosts for the states of accounts (getRepoStatus).
namespace weir::limits {

/// The state of one account at one host is asked for once in this time.
constexpr std::chrono::minutes account_question_interval{10};
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
/// A question that found no place is asked again after this.
constexpr std::chrono::minutes account_question_pause{5};
/// Hosts that rest because they failed or asked us to wait.
constexpr size_t account_resting_hosts_max = 4'096;
/// A host that does not answer is asked so often, with longer and longer waits.
constexpr size_t account_question_tries_max = 5;
constexpr std::chrono::seconds account_question_retry{30};
constexpr size_t account_answer_bytes_max = 65'536;
/// RepoNotFound is believed when it was said twice, this far apart.
constexpr option_seconds gone_grace_range{std::chrono::seconds{1},
                                          std::chrono::hours{24},
                                          std::chrono::minutes{5}};
/// By its row it may have been said the first time in an earlier life. The
/// clock may have been put right since, so it is asked no sooner than this part
/// of that time after the start.
constexpr int gone_grace_part = 8;
/// Of `memory_limit`: the DIDs of a listing under way, eight bytes each.
constexpr size_t census_memory_part = 128;
constexpr size_t census_entries_min = 1'024;

} // namespace weir::limits
