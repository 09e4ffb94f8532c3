#pragma once

#include "atproto/signature.hpp"
#include "messages/repo.hpp"
#include "wire/filter.hpp"

#include <chrono>
#include <optional>

namespace weir {

/// What a fetch says about the host that it asked. The repo is judged apart: a
/// host that answers well may say that the account is gone.
enum class host_verdict : uint8_t {
  fine,
  failed,
  rate_limited, ///< It asked for time, which is no failure.
  silent,       ///< It failed without any answer.
};

/// What a REPO wants to be fetched: its row says `syncing` from now on.
struct fetch_order {
  uint64_t job = 0;
  std::string pds;
  atproto::public_key key;
  /// The store's copy, with which the answer is compared. Null: it has none.
  std::shared_ptr<const storage::chain_row> base;
  atproto::tid least; ///< An older root is no success; undefined: any is one.
  wire::collection_filter filter;
};

/// A repo asks to be fetched. From: REPO. To: SUPERVISOR.
struct repo_wish {
  atproto::did repo;
  storage::repo_status status = storage::repo_status::pending;
  int64_t not_before = 0; ///< Unix seconds (back-off); 0 means at once.
  std::string pds{};      ///< Its host, if known.
};

/// The permit to fetch, with what IDENTITY says of the repo. Answered by
/// `job_ended`, which gives the permit back. Without that answer the REPO
/// ended.
/// From: SUPERVISOR by way of ROUTER. To: REPO.
struct begin_fetch {
  atproto::did repo;
  uint64_t job = 0;
  std::shared_ptr<const identity_answer> identity;
};

/// There is something to do for the repo besides a fetch. Either its row says
/// so, then it is enough that it wakes; or it waits for a fetch, and the
/// look-up of its identity failed or found no host. Answered by
/// `repo_attended`.
/// From: SUPERVISOR by way of ROUTER. To: REPO.
struct attend_repo {
  atproto::did repo;
  std::shared_ptr<const identity_answer> identity; ///< Null: it wakes.
};

/// From: REPO. To: SUPERVISOR.
struct repo_attended {
  /// Why a fetch does not begin, if one was wanted.
  std::optional<error> failed{};
};

/// A download begins. The message also has the BACKFILL, so that SUPERVISOR
/// can end it with `job_cancelled`. From: BACKFILL. To: SUPERVISOR.
struct fetch_begun {
  atproto::did repo;
  uint64_t job = 0;
};

/// The answer to `begin_fetch`: the fetch has ended.
/// From: REPO. To: SUPERVISOR.
struct job_ended {
  atproto::did repo;
  uint64_t job = 0;
  result<void> outcome{};
};

/// How a fetch from this host ended. From: BACKFILL. To: SUPERVISOR.
struct host_report {
  std::string pds;
  host_verdict what = host_verdict::fine;
  std::chrono::seconds retry_after{0};
};

/// Progress of a download. It is sent when the host answers, then from time to
/// time, and at the end of the body. From: BACKFILL. To: SUPERVISOR.
struct fetch_progress {
  uint64_t job = 0;
  uint64_t bytes = 0; ///< Bytes so far.
  bool received = false; ///< The body is complete.
};

/// One part of the differences that were found between the copy and what was
/// fetched. From: BACKFILL. To: REPO.
struct repo_chunk {
  uint64_t job = 0;
  atproto::tid rev; ///< The rev of the fetched root.
  std::vector<storage::new_operation> ops;
};

/// Credit for one more chunk. From: REPO. To: BACKFILL.
struct chunk_stored {};

/// All chunks were sent. From: BACKFILL. To: REPO.
struct repo_fetched {
  uint64_t job = 0;
  std::shared_ptr<const atproto::verified_root> root;
};

/// The fetch failed. From: BACKFILL. To: REPO.
struct repo_fetch_failed {
  uint64_t job = 0;
  error reason;
  /// Set when the host says that the account is not active or not there.
  std::optional<storage::account_status> account{};
  /// Rev of a root that is correct, except that it is ahead of our clock.
  atproto::tid ahead{};
};

/// Cancels the fetch. From: SUPERVISOR, REPO. To: BACKFILL.
struct job_cancelled {
  /// Sent on to the REPO as a failed fetch; none: the REPO cancelled it.
  std::optional<error> reason{};
};

// -- inside a BACKFILL: its HTTP call, its reader, itself ---------------------

struct fetch_head {
  int status = 0;
  std::chrono::seconds retry_after{0};
  /// What the host says that the body is, cut to
  /// `limits::fetch_type_bytes_max`; empty: nothing.
  std::string content_type{};
};

struct fetch_bytes {
  shared_bytes piece;
};

struct fetch_ended {
  result<void> outcome{}; ///< Success: the body is complete.
};

/// Do the next piece of work. From: BACKFILL itself.
struct backfill_step {};

/// What one piece of work brought. From: READER. To: BACKFILL.
struct import_progress {
  /// A part of the difference; at most `limits::chunk_ops_max` operations.
  std::optional<std::vector<storage::new_operation>> chunk;
  bool need_heads = false; ///< Answer with a `heads_page`.
  std::string heads_after; ///< The page begins after this path.
  bool done = false;       ///< Everything was handed out.
};

/// Record heads in path order. From: READER. To: BACKFILL.
struct heads_page {
  struct head {
    std::string path;
    atproto::cid id;
  };
  result<std::vector<head>> heads;
  bool end = false;
};

// -- the SUPERVISOR's own work ------------------------------------------------

/// Repos with something to do, found in the store.
/// From: READER. To: SUPERVISOR.
struct scan_page {
  struct found {
    atproto::did repo;
    storage::repo_status status = storage::repo_status::pending;
    int64_t due = 0; ///< Unix seconds.
    std::string pds; ///< Its host, if known.
    bool quiet = false; ///< Its status alone does not require work.
  };
  /// A repo whose host answered RepoNotFound once.
  struct lost_repo {
    atproto::did repo;
    std::string pds;
    int64_t at = 0; ///< Unix seconds.
  };
  std::vector<found> repos;
  std::vector<lost_repo> lost; ///< These may also be in `repos`.
  std::string next; ///< Where the next page begins.
  bool end = false;
};

/// Orders a listing of this upstream, and a comparison with the stored repos.
/// From: UPSTREAM. To: SUPERVISOR.
struct node_command {
  uint32_t list_upstream = 0;
};

/// This machine's clock was behind and has been corrected.
/// From: HEALTH. To: SUPERVISOR.
struct clock_corrected {};

/// One answer of listRepos. When `collection` is set it is one of
/// listReposByCollection, whose lines have no rev.
/// From: the HTTP call. To: SUPERVISOR.
struct listing_page {
  uint32_t upstream = 0;
  std::string collection;
  result<std::vector<repo_listed>> repos;
  /// Accounts without records of the collection that a PDS was asked for, and
  /// accounts that need not be asked about.
  std::vector<repo_listed> without;
  size_t unanswered = 0; ///< How many of these could not be decided.
  size_t asked = 0;      ///< Requests that were made about single accounts.
  std::string cursor;
  std::chrono::seconds retry_after{0}; ///< The wait that the host asked for.
};

/// The same page, with only those lines that the store cannot answer. The lines
/// of unknown repos are in `unknown`. From: READER. To: SUPERVISOR.
struct listing_compared {
  listing_page page;
  std::vector<repo_listed> unknown;
  size_t listed = 0; ///< Number of lines before that.
};

} // namespace weir
