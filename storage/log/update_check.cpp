#include "storage/log/update_check.hpp"

#include "atproto/limits.hpp"
#include "storage/format/limits.hpp"
#include "storage/log/limits.hpp"

#include <algorithm>

namespace weir::storage {

namespace {

using atproto::op_action;

constexpr std::string_view local_scope = "$local";

std::string refusal_of_scope(const new_operation& op) {
  if (op.scope.starts_with('$')) {
    if (op.scope != commit_scope && op.scope != identity_scope
        && op.scope != account_scope && op.scope != local_scope)
      return "unknown scope " + op.scope;
    return op.rkey.empty() ? "" : "a record key in scope " + op.scope;
  }
  if (op.scope.empty() || op.scope.size() > limits::nsid_bytes_max)
    return "a collection name of " + std::to_string(op.scope.size()) + " bytes";
  if (op.rkey.empty() || op.rkey.size() > limits::record_key_bytes_max)
    return "a record key of " + std::to_string(op.rkey.size()) + " bytes";
  if (op.id.defined() == (op.action == op_action::remove))
    return "an operation whose CID does not fit its action";
  return "";
}

/// Counts the collections only. `$` scopes do not count, so that an account at
/// the limit can still be deleted.
size_t collections_of(const chain_row& chain) {
  return static_cast<size_t>(std::count_if(
    chain.streams.begin(), chain.streams.end(), [](const stream_head& x) {
      return !x.scope.starts_with('$');
    }));
}

/// `$` scopes always stay in the chain's own row, since there are few.
bool stands_apart(const std::string& scope, const chain_row& chain) {
  return !scope.starts_with('$')
         && std::count_if(chain.streams.begin(), chain.streams.end(),
                          [](const stream_head& x) {
                            return !x.apart;
                          })
              >= static_cast<std::ptrdiff_t>(limits::chain_streams_inline_max);
}

/// The chain has the block of the last commit that was passed, and no other.
bool fits(const chain_step& x) {
  return (x.passed != 0) == !x.passed_block.empty()
         && x.passed_block.size() <= limits::passed_block_bytes_max;
}

} // namespace

std::vector<std::string> add_streams(const repo_update& in, chain_row& chain) {
  std::vector<std::string> out;
  const std::string* last = nullptr;
  for (const auto& tx : in.transactions) {
    for (const auto& op : tx.ops) {
      if (last != nullptr && *last == op.scope)
        continue;
      last = &op.scope;
      const auto at
        = std::lower_bound(chain.streams.begin(), chain.streams.end(), op.scope,
                           [](const stream_head& x, const std::string& y) {
                             return x.scope < y;
                           });
      if (at != chain.streams.end() && at->scope == op.scope)
        continue;
      const bool own = op.scope.starts_with('$');
      chain.streams.insert(at, stream_head{op.scope,
                                           own ? 0 : chain.index_base,
                                           {},
                                           0,
                                           stands_apart(op.scope, chain)});
      if (!own)
        out.push_back(op.scope);
    }
  }
  return out;
}

std::string refusal_of(const repo_update& in, const chain_row& chain) {
  if (in.erase && !in.row && !in.forget)
    return "erasing without the row it leads to";
  if (in.forget && (!in.erase || in.row))
    return "forgetting without erasing, or with a row";
  if (collections_of(chain) > limits::repo_streams_max)
    return "more than " + std::to_string(limits::repo_streams_max)
           + " collections in one repo";
  if (in.chain && !fits(*in.chain))
    return "commits that were passed, and a block of "
           + std::to_string(in.chain->passed_block.size()) + " bytes";
  for (const auto& tx : in.transactions) {
    if (tx.ops.empty() || tx.ops.size() > limits::transaction_ops_max)
      return "a transaction of " + std::to_string(tx.ops.size())
             + " operations";
    for (const auto& op : tx.ops)
      if (auto why = refusal_of_op(op); !why.empty())
        return why;
  }
  return "";
}

std::string refusal_of_op(const new_operation& op) {
  if (op.action < op_action::create || op.action > op_action::remove)
    return "an unknown action";
  if (op.content.size() > limits::car_section_bytes_max)
    return "content of " + std::to_string(op.content.size()) + " bytes";
  return refusal_of_scope(op);
}

} // namespace weir::storage
