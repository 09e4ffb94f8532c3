#pragma once

#include <chrono>
#include <cstddef>

/// Limits of `actors/supervisor` for questions to hosts about accounts: the
/// value itself is allowed, value + 1 is not.
namespace weir::limits {

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

} // namespace weir::limits
