#pragma once

#include "messages/repo.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace weir {

/// Asks what the account is at this host. The answer is `account_said` or
/// `account_unasked`; there is none when the host does not say.
/// From: REPO. To: SUPERVISOR.
struct account_question {
  atproto::did repo;
  std::string pds;
  bool not_found = false; ///< The host just answered RepoNotFound to a fetch.
  bool at_once = false;   ///< Ask even if it was asked a moment ago.
  bool urgent = false;    ///< Ask before others when there is not room for all.
};

/// One answer of getRepoStatus. From: the HTTP call. To: SUPERVISOR.
struct account_answer {
  enum class kind : uint8_t {
    stated,    ///< The host gave a state: `account` is set.
    not_found, ///< RepoNotFound.
    failed,    ///< The host did not answer, or asks us to wait.
    useless    ///< No answer of this host would ever help.
  };
  atproto::did repo;
  std::string pds;
  kind what = kind::failed;
  storage::account_status account = storage::account_status::active;
  std::chrono::seconds retry_after{0};
  atproto::tid rev{}; ///< Rev of the repo there; undefined when not said.
};

/// What the host says the account is. RepoNotFound counts as `deleted` only
/// when the host says so twice. From: SUPERVISOR by way of ROUTER. To: REPO.
struct account_said {
  atproto::did repo;
  std::string pds;
  storage::account_status account = storage::account_status::active;
  /// RepoNotFound for the first time, which is not an answer yet: the REPO
  /// notes it in its row, and the host is asked again.
  bool once = false;
  atproto::tid rev{}; ///< Rev of the repo there; undefined when not said.
  /// The position since which the stream of the covering upstream had no gap
  /// (docs/completeness.md, The terms) before the request was made.
  position noted{};
  bool prove = false; ///< It was asked because the repo's position is stale.
};

/// The scan over all rows found that the repo is in sync but not complete. The
/// REPO can see the reason itself. From: SUPERVISOR by way of ROUTER. To: REPO.
struct repo_incomplete {
  atproto::did repo;
  bool unproved = false; ///< Its host gave no answer that could prove it.
  /// The relay whose listings leave the repo out although its host has it; 0
  /// for none.
  uint32_t left_out_by = 0;
};

/// Repos that no upstream covers, in the order of their rows.
/// From: READER. To: SUPERVISOR.
struct uncovered_page {
  struct repo {
    atproto::did id;
    storage::repo_row row;
  };
  std::vector<repo> repos;
  atproto::did last; ///< The last row that was read.
  bool end = false;
};

/// One page of the scan that counts which repos are complete.
/// From: READER. To: SUPERVISOR.
struct completeness_page {
  /// A repo that is in sync but not complete, and what may help.
  struct repo {
    atproto::did id;
    std::string pds;
    bool prove = false; ///< Ask its host; else the REPO finds the reason.
    position noted; ///< The position of its upstream when the row was read.
  };
  /// A repo that cannot be judged, because some of its rows cannot be read.
  struct unreadable {
    atproto::did id;
    error why;
  };
  std::vector<repo> repos;
  std::vector<unreadable> unread;
  atproto::did last; ///< The last row that was read.
  bool end = false;
};

/// A question of this REPO was not asked, since there was no room; or somebody
/// waits for the answer and the host did not give one. The REPO asks again
/// later. From: SUPERVISOR by way of ROUTER. To: REPO.
struct account_unasked {
  atproto::did repo;
  bool not_found = false; ///< The host answered RepoNotFound once.
  bool urgent = false;
};

/// Repos of an upstream that are not in its listing.
/// From: READER. To: SUPERVISOR.
struct left_out_page {
  struct repo {
    atproto::did id;
    std::string pds;
    /// The upstream's position when the row was read, if the repo's own one is
    /// stale.
    position noted{};
    /// The row already says that this upstream leaves the repo out.
    bool is_known = false;
  };
  uint32_t upstream = 0;
  result<std::vector<repo>> repos;
  atproto::did next; ///< Where the next page begins.
  bool end = false;
};

} // namespace weir
