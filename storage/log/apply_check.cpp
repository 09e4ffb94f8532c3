#include "storage/log/apply_check.hpp"

#include "atproto/commit.hpp"
#include "storage/format/account_fact.hpp"
#include "storage/format/hashes.hpp"
#include "storage/log/update_check.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace weir::storage {

namespace {

using atproto::op_action;

/// Only the bytes of the CID are compared with the content. That they are a
/// valid record was found out when they were received.
bool is_of_cid(const new_operation& op, const atproto::cid& id) {
  return op.action != op_action::remove && op.id == id;
}

std::string wrong_commit(const apply_request& request,
                         const new_operation& op) {
  if (!is_of_cid(op, atproto::cid::of_dag_cbor(op.content.view())))
    return "a commit with another CID than its block";
  const auto commit = atproto::decode_commit(op.content.view());
  if (!commit)
    return "a commit that cannot be read: " + commit.error().context;
  if (commit->repo != request.repo || commit->rev != request.rev)
    return "a commit of another repo or rev";
  return "";
}

std::string wrong_fact(const apply_request& request, const new_operation& op) {
  repo_row ignored;
  if (!is_of_cid(op, atproto::cid::of_raw(op.content.view()))
      || op.action != op_action::update || request.rev.defined())
    return "an operation of an account that is none of this format";
  if (!read_fact(as_text(op.content.view()), ignored))
    return "an operation of an account whose text says something else";
  return "";
}

std::string wrong_record(const new_operation& op) {
  if (op.action == op_action::remove)
    return op.undecodable || !op.content.empty()
             ? "an operation that deletes a record and has content"
             : "";
  if (op.undecodable != op.content.empty())
    return "a record without content that could be decoded";
  if (!op.undecodable
      && !is_of_cid(op, atproto::cid::of_dag_cbor(op.content.view())))
    return "a record with another CID than its content";
  return "";
}

/// What `weir verify` demands of every transaction as well.
std::string wrong_envelope(const apply_request& x) {
  const bool fetched = x.from == provenance::resync;
  if (x.live == fetched || (x.job != 0) != fetched)
    return "a transaction that is live and of a fetch, or neither, or whose "
           "fetch has no number";
  if (x.rev.defined() && x.time_us != x.rev.time().micros)
    return "a transaction whose time is not that of its rev";
  return "";
}

std::string wrong_operation(const apply_request& request,
                            const new_operation& op) {
  if (auto why = refusal_of_op(op); !why.empty())
    return why;
  if (op.undecodable && op.scope.starts_with('$'))
    return "an operation of the scope " + op.scope
           + " that could not be decoded";
  if (op.scope == commit_scope)
    return wrong_commit(request, op);
  if (op.scope == identity_scope || op.scope == account_scope)
    return wrong_fact(request, op);
  if (op.scope.starts_with('$'))
    return "an operation of the scope " + op.scope
           + ", which no program writes";
  return request.rev.defined() ? wrong_record(op)
                               : "a record without a rev";
}

apply_receipt wrong_index(const indexed_operation& x, uint64_t next) {
  const auto& scope = x.operation.scope;
  auto out = refusal(apply_outcome::invalid_index,
                     "an operation with index " + std::to_string(x.index)
                       + " of " + scope + ", where " + std::to_string(next)
                       + " is next");
  out.scope = scope;
  out.expected = x.index;
  out.actual = next;
  return out;
}

/// A transaction is one commit, with its block, or a part of a fetch or a fact
/// of an account. It changes each record once.
std::string wrong_together(const apply_request& request,
                           const std::vector<indexed_operation>& staged) {
  size_t commits = 0;
  std::set<std::pair<std::string_view, std::string_view>> records;
  for (const auto& x : staged) {
    const auto& op = x.operation;
    commits += op.scope == commit_scope ? 1 : 0;
    if (!op.scope.starts_with('$')
        && !records.emplace(op.scope, op.rkey).second)
      return "two operations of the record " + op.scope + "/" + op.rkey;
  }
  const bool lacks_commit = request.rev.defined() && !staged.empty()
                            && request.from != provenance::resync
                            && commits == 0;
  if (lacks_commit || commits > 1)
    return "a commit without its block, or with several";
  return "";
}

} // namespace

const char* to_string(apply_outcome x) noexcept {
  switch (x) {
    case apply_outcome::done:
      return "done";
    case apply_outcome::replayed:
      return "replayed";
    case apply_outcome::duplicate_operation:
      return "duplicate_operation";
    case apply_outcome::revision_mismatch:
      return "revision_mismatch";
    case apply_outcome::invalid_index:
      return "invalid_index";
    case apply_outcome::invalid_operation:
      return "invalid_operation";
    case apply_outcome::staging_failed:
      return "staging_failed";
    case apply_outcome::cancelled:
      return "cancelled";
    case apply_outcome::lock_failed:
      return "lock_failed";
    case apply_outcome::atomicity_failed:
      return "atomicity_failed";
  }
  return "unknown";
}

apply_receipt refusal(apply_outcome outcome, std::string reason) {
  apply_receipt out;
  out.outcome = outcome;
  out.reason = std::move(reason);
  return out;
}

atproto::digest digest_of(const apply_request& request,
                          const indexed_operation& x) {
  const auto& op = x.operation;
  return log_hasher{}.operation(
    {request.repo.str(), request.rev, op.scope, op.rkey, op.action, &op.id,
     origin_of(op.scope, request.from, request.job, x.index)});
}

std::optional<apply_receipt>
refusal_of_staged(const apply_request& request,
                  const std::vector<indexed_operation>& staged) {
  if (auto why = wrong_envelope(request); !why.empty())
    return refusal(apply_outcome::invalid_operation, std::move(why));
  std::map<std::string_view, uint64_t> next;
  for (const auto& stream : request.streams)
    next.emplace(stream.scope, stream.revision);
  std::set<atproto::digest> seen;
  for (const auto& x : staged) {
    const auto& scope = x.operation.scope;
    const auto at = next.find(scope);
    if (at == next.end())
      return refusal(apply_outcome::invalid_operation,
                     "an operation of the scope " + scope
                       + ", whose revision the request does not say");
    if (x.index != at->second)
      return wrong_index(x, at->second);
    ++at->second;
    if (auto why = wrong_operation(request, x.operation); !why.empty())
      return refusal(apply_outcome::invalid_operation, std::move(why));
    const auto digest = digest_of(request, x);
    if (!seen.insert(digest).second)
      return refusal(apply_outcome::duplicate_operation,
                     "the operation " + op_id_text(digest)
                       + " is staged twice");
  }
  if (auto why = wrong_together(request, staged); !why.empty())
    return refusal(apply_outcome::invalid_operation, std::move(why));
  return std::nullopt;
}

} // namespace weir::storage
