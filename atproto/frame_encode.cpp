#include "atproto/dag_cbor.hpp"
#include "atproto/frame.hpp"

namespace weir::atproto {

namespace {

/// Begins a message of kind `t`: the header, and a payload with `size` entries
/// that the caller adds.
cbor::writer begin_message(std::string_view t, size_t size) {
  cbor::writer out;
  out.begin_map(2).put_text("t").put_text(t).put_text("op").put_int(1);
  out.begin_map(size);
  return out;
}

void put_op(cbor::writer& out, const commit_op& x) {
  out.begin_map(x.prev.defined() ? 4 : 3);
  out.put_text("cid").put_link_or_null(x.id);
  out.put_text("path").put_text(x.path);
  if (x.prev.defined())
    out.put_text("prev").put_link(x.prev);
  out.put_text("action").put_text(to_string(x.action));
}

} // namespace

bytes encode_frame(const commit_event& x) {
  const bool chained = x.prev_data.defined();
  auto out = begin_message("#commit", chained ? 12 : 11);
  out.put_text("ops").begin_array(x.ops.size());
  for (const auto& op : x.ops)
    put_op(out, op);
  out.put_text("rev").put_text(x.rev.str());
  out.put_text("seq").put_int(x.seq);
  out.put_text("repo").put_text(x.repo.str());
  out.put_text("time").put_text(x.time);
  out.put_text("blobs").begin_array(0);
  out.put_text("since");
  if (x.since)
    out.put_text(x.since->str());
  else
    out.put_null();
  out.put_text("blocks").put_bytes(x.blocks);
  out.put_text("commit").put_link(x.commit);
  out.put_text("rebase").put_bool(false);
  out.put_text("tooBig").put_bool(x.too_big);
  if (chained)
    out.put_text("prevData").put_link(x.prev_data);
  return out.take();
}

bytes encode_frame(const sync_event& x) {
  auto out = begin_message("#sync", 5);
  out.put_text("did").put_text(x.repo.str());
  out.put_text("rev").put_text(x.rev.str());
  out.put_text("seq").put_int(x.seq);
  out.put_text("time").put_text(x.time);
  out.put_text("blocks").put_bytes(x.blocks);
  return out.take();
}

bytes encode_frame(const identity_event& x) {
  auto out = begin_message("#identity", x.handle.empty() ? 3 : 4);
  out.put_text("did").put_text(x.repo.str());
  out.put_text("seq").put_int(x.seq);
  out.put_text("time").put_text(x.time);
  if (!x.handle.empty())
    out.put_text("handle").put_text(x.handle);
  return out.take();
}

bytes encode_frame(const account_event& x) {
  auto out = begin_message("#account", x.status.empty() ? 4 : 5);
  out.put_text("did").put_text(x.repo.str());
  out.put_text("seq").put_int(x.seq);
  out.put_text("time").put_text(x.time);
  out.put_text("active").put_bool(x.active);
  if (!x.status.empty())
    out.put_text("status").put_text(x.status);
  return out.take();
}

bytes encode_frame(const info_event& x) {
  auto out = begin_message("#info", x.message.empty() ? 1 : 2);
  out.put_text("name").put_text(x.name);
  if (!x.message.empty())
    out.put_text("message").put_text(x.message);
  return out.take();
}

bytes encode_frame(const error_event& x) {
  cbor::writer out;
  out.begin_map(1).put_text("op").put_int(-1);
  out.begin_map(x.message.empty() ? 1 : 2);
  out.put_text("error").put_text(x.name);
  if (!x.message.empty())
    out.put_text("message").put_text(x.message);
  return out.take();
}

} // namespace weir::atproto
