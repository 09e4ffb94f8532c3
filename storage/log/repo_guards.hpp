#pragma once

#include "storage/format/records.hpp"
#include "storage/format/values.hpp"
#include "storage/log/limits.hpp"

#include <list>
#include <unordered_map>

namespace weir::storage {

/// What the writer keeps of one repo in memory to judge its next update.
struct repo_guard {
  bool chain_known = false;
  uint64_t commit_revision = 0;
  uint64_t operations = 0; ///< Those of all streams.
  atproto::tid rev; ///< A commit of which nothing is kept raises only this.
  op_id erased_through = 0;

  bool row_known = false;
  bool has_row = false;
  repo_status status = repo_status::pending;
  uint64_t due = 0;
  uint64_t resync_id = 0;

  void learn(const stored_chain& x) noexcept;
  void learn(const chain_row& x) noexcept;
  void learn(const repo_row& x) noexcept;
};

/// Number of operations in all streams of a repo. Every update that appends to
/// the log raises it.
uint64_t operations_of(const chain_row& x) noexcept;

/// The due time in the repo's key in the status index. A repo whose account is
/// not active is never due, whatever its status is.
uint64_t due_of(const repo_row& x) noexcept;

/// Guards of the repos that were used last. One thread.
///
/// # Limits
/// At most `capacity` repos. The one unused for longest is dropped first.
class repo_guards {
public:
  explicit repo_guards(size_t capacity = limits::repo_guards_max)
    : capacity_(capacity) {}

  /// Returns the guard of `x`, a new one when there is none. Valid until the
  /// next call.
  repo_guard& at(const atproto::did& x);

  size_t size() const noexcept { return by_did_.size(); }

private:
  using entries = std::list<std::pair<atproto::did, repo_guard>>;

  size_t capacity_;
  entries entries_; ///< The most recently used comes first.
  std::unordered_map<std::string_view, entries::iterator> by_did_;
};

} // namespace weir::storage
