#pragma once

#include "messages/repo.hpp"

#include <chrono>

namespace weir {

/// A repo wants a fetch.
///
/// From: REPO. To: SUPERVISOR. Travels: local only.
struct repo_wish {
  atproto::did repo;
  storage::repo_status status = storage::repo_status::pending;
  std::chrono::seconds wait{0};
  std::string pds; ///< Its host as far as it is known.
};

/// Where would you be fetched from? Answered by `repo_ready`.
///
/// From: SUPERVISOR by way of ROUTER. To: REPO. Travels: local only.
struct prepare_fetch {
  atproto::did repo;
};

/// No `pds`: the repo cannot be fetched now and took the error itself.
///
/// From: REPO. To: SUPERVISOR. Travels: local only.
struct repo_ready {
  atproto::did repo;
  std::string pds;
  repo_actor from; ///< Gets the permit, and is watched while it has one.
  error failed{};  ///< Why its host is not known, if that was looked up in vain.
};

/// The permit. From: SUPERVISOR. To: REPO.
struct begin_fetch {
  atproto::did repo;
  uint64_t job = 0;
};

/// Durably `syncing`: a BACKFILL may start.
///
/// From: REPO. To: SUPERVISOR. Travels: local only.
struct fetch_started {
  atproto::did repo;
  uint64_t job = 0;
  std::string pds;
  atproto::public_key key;
  std::shared_ptr<const storage::chain_row> base;
  atproto::tid least; ///< An older root is no success.
  storage::op_id erased_through = 0;
  std::vector<std::string> collections; ///< Filter patterns; empty = all.
  repo_actor from;
};

/// The permit is free. From: REPO. To: SUPERVISOR. Travels: local only.
struct job_ended {
  atproto::did repo;
  uint64_t job = 0;
  error outcome; ///< `ec::none` = success; a failure stops the BACKFILL.
};

/// From: BACKFILL. To: SUPERVISOR. Travels: local only.
struct host_report {
  std::string pds;
  /// `silent`: it failed without any answer.
  enum class verdict : uint8_t { fine, failed, rate_limited, silent };
  verdict what = verdict::fine;
  std::chrono::seconds retry_after{0};
};

/// How far a download is: when its host answers, now and then, and when its
/// body is complete.
///
/// From: BACKFILL. To: SUPERVISOR. Travels: local only.
struct fetch_progress {
  uint64_t job = 0;
  uint64_t bytes = 0; ///< In all.
  bool received = false;
};

/// A part of the difference. From: BACKFILL. To: REPO. Travels: local only.
struct repo_chunk {
  uint64_t job = 0;
  atproto::tid rev;
  std::vector<storage::new_operation> ops;
  backfill_actor from;
};

/// Credit for one more chunk. From: REPO. To: BACKFILL. Travels: local only.
struct chunk_stored {
  uint64_t job = 0;
};

/// All chunks were sent. From: BACKFILL. To: REPO. Travels: local only.
struct repo_fetched {
  uint64_t job = 0;
  std::shared_ptr<const atproto::verified_root> root;
};

/// From: BACKFILL. To: REPO. Travels: local only.
struct repo_fetch_failed {
  uint64_t job = 0;
  error reason;
  std::optional<storage::account_status> account;
  /// The rev of a root whose only fault is that it is beyond our clock.
  atproto::tid ahead{};
};

/// From: SUPERVISOR. To: BACKFILL. Travels: local only.
struct job_cancelled {};

// -- inside a BACKFILL: its HTTP call, its reader, itself ---------------------

struct fetch_head {
  int status = 0;
  std::chrono::seconds retry_after{0};
};

struct fetch_bytes {
  shared_bytes piece;
};

struct fetch_ended {
  error reason; ///< `ec::none`: the body is complete.
};

/// Next quantum of work, or the outcome of one that ran on a READER.
///
/// From: BACKFILL itself, READER. Travels: local only.
struct backfill_step {
  std::shared_ptr<void> outcome;
};

/// Record heads in path order. From: READER. To: BACKFILL.
struct heads_page {
  struct head {
    std::string path;
    atproto::cid id;
  };
  error failed;
  std::vector<head> heads;
  bool end = false;
};

// -- the SUPERVISOR's own work ------------------------------------------------

/// Repos that want work, found in the store. From: READER. To: SUPERVISOR.
struct scan_page {
  struct found {
    atproto::did repo;
    storage::repo_status status = storage::repo_status::pending;
    int64_t due = 0; ///< Unix seconds.
    std::string pds; ///< Its host as far as it is known.
    bool quiet = false; ///< Its status does not say that it wants work.
  };
  /// Its host said RepoNotFound once.
  struct lost_repo {
    atproto::did repo;
    std::string pds;
    int64_t at = 0; ///< Unix seconds.
  };
  error failed; ///< `ec::none` when all of the page was read.
  std::vector<found> repos;
  std::vector<lost_repo> lost; ///< These may stand in `repos`, too.
  std::string next; ///< Where the next page begins.
  bool end = false;
};

/// List the repos of this upstream and compare.
///
/// From: UPSTREAM. To: SUPERVISOR. Travels: local only.
struct node_command {
  uint32_t list_upstream = 0;
};

/// This machine's clock was behind, and was set right. From: HEALTH. To:
/// SUPERVISOR. Travels: local only.
struct clock_corrected {};

/// One answer of listRepos, or with a collection of listReposByCollection,
/// whose lines have no rev. From: the HTTP call. To: SUPERVISOR.
struct listing_page {
  uint32_t upstream = 0;
  std::string collection;
  error failed;
  std::vector<repo_listed> repos;
  /// Of a PDS that was asked for a collection: those that have no records of it,
  /// and those that need not be asked about.
  std::vector<repo_listed> without;
  size_t unanswered = 0; ///< Of these: nobody could say.
  size_t asked = 0;      ///< Requests that were made about single accounts.
  std::string cursor;
  std::chrono::seconds retry_after{0}; ///< As its host asks when it failed.
};

/// The same page with only those lines that the store cannot answer, and apart
/// from them those of repos that it does not know.
/// From: READER. To: SUPERVISOR.
struct listing_compared {
  listing_page page;
  std::vector<repo_listed> unknown;
  size_t listed = 0; ///< Lines of the page before.
};

} // namespace weir

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::repo_wish)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::prepare_fetch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::repo_ready)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::begin_fetch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::fetch_started)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::job_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::host_report)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::fetch_progress)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::repo_chunk)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::chunk_stored)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::repo_fetched)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::repo_fetch_failed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::job_cancelled)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::fetch_head)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::fetch_bytes)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::fetch_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::backfill_step)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::heads_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::scan_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::node_command)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::clock_corrected)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::listing_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::listing_compared)
