#pragma once

#include "actors/supervisor/holders_machine.hpp"
#include "actors/support/upstream_view.hpp"
#include "messages/account.hpp"
#include "messages/backfill.hpp"

#include <chrono>
#include <string_view>
#include <utility>

/// What the answers of hosts mean. An error means that there was no answer.
namespace weir::actors {

/// An answer over HTTP. The body is the caller's.
struct host_answer {
  int status = 0;
  std::chrono::seconds wait{0}; ///< The wait that the host asks for; 0: none.
  std::string_view body{};
};

/// Reads an answer to getRepoStatus.
/// @returns whether getLatestCommit is to be asked for the rev: the host calls
///          the account active without it, or does not offer this question.
bool read_repo_status(const result<host_answer>& x, account_answer& out);

/// Reads an answer to getLatestCommit. A host that answers without a rev, or
/// refuses the question, will never name its rev, and then the repo may have to
/// be fetched. A host that is busy, away or behind another server's error page
/// did not answer at all.
void read_latest_commit(const result<host_answer>& x, account_answer& out);

/// Reads a page of a listing, without lines that are not repos.
/// @param before The upstream before the request.
void read_listing(const result<host_answer>& x, const upstream_view& before,
                  listing_page& out);

/// Reads an answer to describeRepo: its kind, and whether the repo has records
/// in one of the wanted collections.
std::pair<holders_machine::answer, holders_run::said>
read_description(const result<host_answer>& x, const atproto::did& repo,
                 const wire::collection_filter& wanted);

} // namespace weir::actors
