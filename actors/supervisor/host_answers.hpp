#pragma once

#include "actors/support/upstream_view.hpp"
#include "messages/account.hpp"
#include "messages/backfill.hpp"

#include <chrono>
#include <string_view>

/// What the answers of hosts mean. An error: there was none.
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

/// Reads a page of a listing. Leaves out lines that are not repos. A body that
/// is no listing is an error.
/// @param before The upstream before the request.
void read_listing(const result<host_answer>& x, const upstream_view& before,
                  listing_page& out);

} // namespace weir::actors
