#pragma once

#include "storage/format/update.hpp"

/// What readers of the log get: one decoded block with its content.
namespace weir::storage {

struct logged_operation {
  std::string scope;
  uint64_t index = 0; ///< Position in its stream, from 0.
  atproto::op_action action = atproto::op_action::create;
  std::string rkey;
  atproto::cid id;
  uint32_t skip = 0;
  uint64_t content = 0;     ///< Content number; 0 when no bytes were stored.
  shared_bytes body;        ///< Empty when not stored, erased or not requested.
  bool undecodable = false; ///< The block is no valid record.
  /// Its record has changed since, and what changed it may have been trimmed: a
  /// reader who never saw it must not see it now.
  bool outdated = false;
};

/// One transaction of the log. It is immutable and shared by the tail cache and
/// all consumers.
struct log_entry : log_envelope {
  op_id first = 0;
  /// The account was deleted or the repo removed, and SWEEPER has erased the
  /// content. Only the envelopes are left, and names of collections may be
  /// empty.
  bool erased = false;
  std::vector<logged_operation> ops;

  op_id last() const noexcept { return first + ops.size() - 1; }

  size_t bytes_held() const noexcept {
    size_t out = sizeof(*this) + repo.str().size();
    for (const auto& op : ops)
      out += sizeof(op) + op.scope.size() + op.rkey.size() + op.body.size();
    return out;
  }
};

/// What an operation is about, for people: the URI of its record, or the DID of
/// its account.
inline std::string subject_of(const atproto::did& repo,
                              const logged_operation& op) {
  if (op.scope.starts_with('$'))
    return repo.str();
  return "at://" + repo.str() + '/' + op.scope + '/' + op.rkey;
}

using log_entry_ptr = std::shared_ptr<const log_entry>;

} // namespace weir::storage
