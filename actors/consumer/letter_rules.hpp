#pragma once

#include "messages/consumer.hpp"
#include "storage/format/records.hpp"

#include <algorithm>
#include <optional>

/// A dead letter that is current may be delivered again although other events
/// of its account were delivered since. These rules need no store and no clock.
namespace weir::actors {

/// Whether it states something about the account, not about a record.
inline bool is_fact(const storage::logged_operation& op) {
  return op.scope == storage::identity_scope
         || op.scope == storage::account_scope;
}

/// An identity or account event is current while its account has no later one.
/// @param later Facts of the account from this one on.
inline bool is_current_fact(storage::op_id id, const log_entries& later) {
  return std::ranges::none_of(later, [id](const auto& x) {
    return x->last() > id && is_fact(x->ops.back());
  });
}

/// A record's event is current while the record is as it left it: not there
/// after a deletion, otherwise last written by this event. Nothing is current
/// that was erased.
/// @param head What the store has of the record now.
inline bool is_current_record(const storage::log_entry& entry,
                              storage::op_id id,
                              const std::optional<storage::record_head>& head) {
  if (entry.erased)
    return false;
  return entry.ops[id - entry.first].action == atproto::op_action::remove
           ? !head
           : head && head->op == id;
}

} // namespace weir::actors
