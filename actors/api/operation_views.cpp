#include "actors/api/operation_views.hpp"

#include "atproto/base_encodings.hpp"
#include "storage/format/hashes.hpp"

namespace weir::actors {

namespace {

using storage::stored_operation;

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

} // namespace

bool is_fact(const stored_operation& x) noexcept {
  return x.scope == storage::identity_scope
         || x.scope == storage::account_scope;
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

} // namespace weir::actors
