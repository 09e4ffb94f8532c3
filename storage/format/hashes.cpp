#include "storage/format/hashes.hpp"

#include "atproto/base_encodings.hpp"
#include "atproto/sha256.hpp"
#include "storage/format/key_codec.hpp"
#include "storage/format/values.hpp"

#include <array>

namespace weir::storage {

namespace {

constexpr int64_t stream_hash_version = 1;

// A multihash of a SHA-256 begins with these bytes.
constexpr uint8_t sha256_code = 0x12;
constexpr uint8_t sha256_size = 0x20;

using atproto::cbor::writer;

void put_tid(writer& out, atproto::tid x) {
  if (x.defined())
    out.put_text(x.str());
  else
    out.put_null();
}

void put_cid(writer& out, const atproto::cid* x) {
  out.put_link_or_null(x != nullptr ? *x : atproto::cid{});
}

} // namespace

std::optional<uint64_t> origin_of(std::string_view scope, provenance from,
                                  uint64_t job, uint64_t index) noexcept {
  if (scope.starts_with('$') && scope != commit_scope)
    return index;
  if (from == provenance::resync)
    return job;
  return std::nullopt;
}

atproto::digest log_hasher::operation(const operation_identity& x) {
  std::string origin;
  if (x.origin)
    key_writer{origin}.put(*x.origin);
  out_.clear();
  out_.begin_array(7).put_text(x.did);
  put_tid(out_, x.rev);
  out_.put_text(x.scope).put_text(x.rkey).put_text(to_string(x.action));
  put_cid(out_, x.id);
  out_.put_bytes(as_bytes(origin));
  return atproto::sha256(out_.data());
}

atproto::digest log_hasher::stream(const stream_step& x) {
  out_.clear();
  out_.begin_map(8).put_text("v").put_int(stream_hash_version);
  out_.put_text("opId").put_bytes(x.operation);
  out_.put_text("prev").put_bytes(x.previous);
  out_.put_text("skip").put_int(x.skip);
  out_.put_text("index").put_int(static_cast<int64_t>(x.index));
  out_.put_text("action").begin_map(3);
  out_.put_text("op").put_text(to_string(x.action)).put_text("cid");
  put_cid(out_, x.id);
  out_.put_text("rkey").put_text(x.rkey);
  out_.put_text("stream").begin_array(3).put_text(x.did).put_text(x.scope);
  out_.put_text(branch_name(x.branch));
  out_.put_text("timestampUtcMs").put_int(x.timestamp_ms);
  return atproto::sha256(out_.data());
}

std::string op_id_text(const atproto::digest& operation) {
  constexpr std::array<uint8_t, 2> prefix{sha256_code, sha256_size};
  return atproto::encode_hex(prefix) + atproto::encode_hex(operation);
}

std::string branch_name(uint16_t branch) {
  if (branch == main_branch)
    return "main";
  if (branch == denied_branch)
    return "denied";
  return "fork/" + std::to_string(branch - first_fork_branch);
}

atproto::digest block_hash(uint16_t partition, op_id first,
                           std::string_view value) {
  std::string place;
  key_writer writer{place};
  writer.put(partition);
  writer.put(first);
  atproto::sha256_stream hash;
  hash.update(as_bytes(place));
  hash.update(as_bytes(value));
  return hash.finish();
}

} // namespace weir::storage
