#include "actors/api/shown_operations.hpp"

#include "atproto/base_encodings.hpp"
#include "storage/format/hashes.hpp"

namespace weir::actors {

namespace {

using storage::stored_operation;

bool is_fact(const stored_operation& x) noexcept {
  return x.scope == storage::identity_scope
         || x.scope == storage::account_scope;
}

std::string_view word_of(storage::provenance x) noexcept {
  switch (x) {
    case storage::provenance::live:
      return "live";
    case storage::provenance::buffer:
      return "buffer";
    case storage::provenance::resync:
      return "resync";
  }
  return "unknown";
}

/// What made the operation: a fetch by its number, or a commit by its CID
/// (OPLOG-23). Facts have neither.
std::string job_of(const storage::stored_transaction& x) {
  if (x.job != 0)
    return std::to_string(x.job);
  return x.commit.defined() ? x.commit.to_text() : std::string{};
}

wire::operation_view view_of(uint64_t id, const stored_operation& x) {
  wire::operation_view out;
  out.cid = &x.cid;
  out.id = id;
  if (x.hashes) {
    out.op_id = storage::op_id_text(x.hashes->operation);
    if (x.hashes->previous)
      out.prev_op_id = storage::op_id_text(*x.hashes->previous);
    out.hash = atproto::encode_hex(x.hashes->stream);
  }
  out.did = x.in->repo.str();
  out.collection = x.scope;
  out.action = x.action;
  out.rkey = x.rkey;
  out.rev = x.in->rev;
  out.index = x.index;
  if (x.scope == storage::commit_scope)
    out.passed = x.in->passed;
  out.time_ms = x.timestamp_ms();
  out.written_ms = x.written_ms();
  out.live = x.in->live;
  out.provenance = word_of(x.in->from);
  out.job = job_of(*x.in);
  out.content = to_string(x.content);
  out.body = x.body.view();
  out.is_fact = is_fact(x);
  return out;
}

} // namespace

result<void> shown_operations::add(uint64_t id, stored_operation x) {
  const auto away = is_fact(x) || x.content != storage::content_state::present
                      ? result<bool>{false}
                      : is_away(x.in->repo);
  if (!away)
    return away.error();
  if (*away)
    x.body = {};
  all_.push_back({id, std::move(x), *away});
  return {};
}

/// A repo without a row was removed a moment ago.
result<bool> shown_operations::is_away(const atproto::did& repo) {
  const auto known = away_.find(repo);
  if (known != away_.end())
    return known->second;
  const auto row = stores_.of(repo).load_row(repo);
  if (!row)
    return row.error();
  const bool out
    = !*row || (*row)->account != storage::account_status::active;
  return away_.emplace(repo, out).first->second;
}

std::vector<wire::operation_view> shown_operations::views() const {
  std::vector<wire::operation_view> out;
  out.reserve(all_.size());
  for (const auto& x : all_) {
    out.push_back(view_of(x.id, x.operation));
    if (x.hidden)
      out.back().content = hidden_content;
  }
  return out;
}

} // namespace weir::actors
