#pragma once

#include "messages/repo.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace weir {

/// What is this account at that host? Answered by `account_told`, by
/// `account_unasked`, or by nothing when the host does not say.
///
/// From: REPO. To: SUPERVISOR. Travels: local only.
struct account_question {
  atproto::did repo;
  std::string pds;
  bool not_found = false; ///< It said RepoNotFound to a fetch just now.
  bool at_once = false;   ///< Even if it was asked a moment ago.
  bool urgent = false;    ///< Before others, when there is no room for all.
};

/// One answer of getRepoStatus. From: the HTTP call. To: SUPERVISOR.
struct account_answer {
  enum class kind : uint8_t {
    told,      ///< `account` holds.
    not_found, ///< RepoNotFound.
    failed,    ///< It did not answer, or asks us to wait.
    useless    ///< Nothing that it says would ever help.
  };
  atproto::did repo;
  std::string pds;
  kind what = kind::failed;
  storage::account_status account = storage::account_status::active;
  std::chrono::seconds retry_after{0};
  atproto::tid rev{}; ///< Of its repo there; undefined: it does not say.
};

/// What the host says the account is. RepoNotFound said twice is `deleted`;
/// `once` it is no answer yet, and is told so that the REPO's row remembers it.
///
/// From: SUPERVISOR by way of ROUTER. To: REPO. Travels: local only.
struct account_told {
  atproto::did repo;
  std::string pds;
  storage::account_status account = storage::account_status::active;
  bool once = false;
  atproto::tid rev{}; ///< Of its repo there; undefined: it did not say.
  /// first_cursor_since_reset of the accounting upstream before the request.
  position noted{};
  bool prove = false; ///< It was asked because the repo's position is stale.
};

/// A look at all rows found the repo in sync and not complete, for a reason
/// that it sees itself.
///
/// From: SUPERVISOR by way of ROUTER. To: REPO. Travels: local only.
struct repo_incomplete {
  atproto::did repo;
  bool unproved = false; ///< Its host has no word that could prove it.
  /// Nor is that why: the listings of this relay leave it out, and its host said
  /// meanwhile that it is there. 0: not so.
  uint32_t left_out_by = 0;
};

/// Repos that no upstream covers, in the order of their rows.
///
/// From: READER. To: SUPERVISOR. Travels: local only.
struct uncovered_page {
  struct repo {
    atproto::did id;
    storage::repo_row row;
  };
  error failed; ///< `ec::none` when the rows were read.
  std::vector<repo> repos;
  atproto::did last; ///< The last row that was looked at.
  bool end = false;
};

/// A page of rows was looked at, to count which repos are complete.
///
/// From: READER. To: SUPERVISOR. Travels: local only.
struct completeness_page {
  /// One that is in sync and not complete, and what may mend it.
  struct repo {
    atproto::did id;
    std::string pds;
    bool prove = false; ///< Its position is stale; else it sees for itself.
    position noted; ///< Of its upstream, when the row was looked at.
  };
  /// One whose row alone does not tell, and the rest of it cannot be read.
  struct unreadable {
    atproto::did id;
    error why;
  };
  std::vector<repo> repos;
  std::vector<unreadable> unread;
  error failed;      ///< `ec::none` when the rows were read.
  atproto::did last; ///< The last row that was looked at.
  bool end = false;
};

/// There was no room for a question of this REPO, or somebody waits for it and
/// its host did not answer: to be asked later.
///
/// From: SUPERVISOR by way of ROUTER. To: REPO. Travels: local only.
struct account_unasked {
  atproto::did repo;
  bool not_found = false; ///< The host said RepoNotFound once.
  bool urgent = false;
};

/// Repos of an upstream that its listing did not name.
///
/// From: READER. To: SUPERVISOR. Travels: local only.
struct left_out_page {
  struct repo {
    atproto::did id;
    std::string pds;
    /// Of its upstream, when the row was looked at, if its own one is stale.
    position noted{};
    bool is_known = false; ///< Its row says that this upstream leaves it out.
  };
  error failed; ///< `ec::none` when the rows were read.
  uint32_t upstream = 0;
  std::vector<repo> repos;
  atproto::did next; ///< Where the next page begins.
  bool end = false;
};

} // namespace weir

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::account_question)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::account_answer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::account_told)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::account_unasked)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::completeness_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::repo_incomplete)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::left_out_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::uncovered_page)
