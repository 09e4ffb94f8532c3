#include "storage/verify/verify_context.hpp"

/// The rules that every writer follows within one log block. The last block has
/// no successor with its hash, so its fields are checked one by one.
namespace weir::storage {

namespace {

using atproto::op_action;

const char* fault_of_envelope(const log_block& x) {
  const bool resync = x.from == provenance::resync;
  if (!x.cause.empty())
    return "it names a cause";
  if (x.live == resync)
    return "it is live and of a resync, or neither";
  if ((x.job != 0) != resync)
    return "it has a job and is of no resync, or lacks one";
  if (x.rev.defined() && x.time_us != x.rev.time().micros)
    return "its time is not that of its revision";
  for (const auto& stream : x.streams)
    if (stream.branch != main_branch)
      return "it is of a branch that nothing writes";
  return nullptr;
}

const char* fault_of_commit(const log_block& block, const block_operation& x) {
  if (x.action == op_action::remove || !block.rev.defined())
    return "it deletes a commit, or has no revision";
  if (!x.id.is_dag_cbor() || x.content == 0)
    return "it is a commit without its block";
  return nullptr;
}

const char* fault_of_fact(const log_block& block, const block_operation& x) {
  if (x.action != op_action::update || block.rev.defined())
    return "it is a fact and changes a record, or has a revision";
  if (!x.id.is_raw() || x.content == 0)
    return "it is a fact without its text";
  return nullptr;
}

const char* fault_of_record(const log_block& block, const block_operation& x) {
  if (!block.rev.defined())
    return "it changes a record without a revision";
  const bool remove = x.action == op_action::remove;
  if (remove && (x.id.defined() || x.undecodable || x.content != 0))
    return "it deletes a record and has content";
  if (!remove && x.undecodable == (x.content != 0))
    return "it has content and cannot be decoded, or neither";
  if (x.content != 0 && !x.id.is_dag_cbor())
    return "its content has a CID that no record has";
  return nullptr;
}

const char* fault_of(const log_block& block, const block_operation& x) {
  const auto scope = block.streams[x.stream].scope;
  if (x.skip != 0)
    return "it skips";
  if (scope >= first_collection_id)
    return x.rkey.empty() ? "it has no record key" : fault_of_record(block, x);
  if (!x.rkey.empty() || x.undecodable)
    return "it is of no collection and names a record";
  switch (scope) {
    case commit_scope_id:
      return fault_of_commit(block, x);
    case identity_scope_id:
    case account_scope_id:
      return fault_of_fact(block, x);
    default:
      return "it is of a scope that nothing writes";
  }
}

} // namespace

void verify_operations(verify_context& x, op_id first, const log_block& block) {
  if (const char* fault = fault_of_envelope(block))
    x.wrong(first, fault);
  for (size_t i = 0; i < block.ops.size(); ++i)
    if (const char* fault = fault_of(block, block.ops[i]))
      x.wrong(first + i, fault);
}

} // namespace weir::storage
