#include "storage/format/byte_archive.hpp"
#include "storage/format/crc32c.hpp"
#include "storage/format/limits.hpp"
#include "storage/format/values.hpp"

namespace weir::storage {

namespace {

// The first byte of an operation: its action in two bits, and these flags.
constexpr uint8_t action_mask = 0x03;
constexpr uint8_t rkey_is_tid = 0x04;
constexpr uint8_t is_undecodable = 0x08;
constexpr uint8_t has_skip = 0x10;
constexpr uint8_t content_follows = 0x20; ///< One more than the last number.
constexpr uint8_t content_is_given = 0x40;
constexpr uint8_t has_replaced = 0x80;

constexpr size_t checksum_size = sizeof(uint32_t);

std::optional<atproto::tid> canonical_tid(const std::string& rkey) {
  const auto id = atproto::tid::parse(rkey);
  return id && id->str() == rkey ? id : std::nullopt;
}

void each_field(auto& ar, auto& stream) {
  ar(stream.scope, stream.branch, stream.first_index);
  if (stream.first_index != 0)
    ar(stream.previous);
}

void put_operation(byte_output& ar, const block_operation& x,
                   uint64_t& content) {
  const auto id = canonical_tid(x.rkey);
  auto flags = static_cast<uint8_t>(x.action);
  if (id)
    flags |= rkey_is_tid;
  if (x.undecodable)
    flags |= is_undecodable;
  if (x.skip != 0)
    flags |= has_skip;
  if (x.content != 0)
    flags |= x.content == content + 1 ? content_follows : content_is_given;
  if (x.replaced != 0)
    flags |= has_replaced;
  ar(flags, x.stream);
  if (id)
    ar(*id);
  else
    ar(x.rkey);
  ar(x.id);
  if (x.skip != 0)
    ar(x.skip);
  if ((flags & content_is_given) != 0)
    ar(x.content);
  if (x.content != 0)
    content = x.content;
  if (x.replaced != 0)
    ar(x.replaced);
}

void take_rkey(byte_input& ar, bool is_tid, std::string& rkey) {
  if (!is_tid) {
    ar(rkey);
    if (canonical_tid(rkey))
      throw bad_value{"a record key is not in its shortest form"};
    return;
  }
  atproto::tid id;
  ar(id);
  rkey = id.str();
  if (canonical_tid(rkey) != id)
    throw bad_value{"a record key is no TID"}; // unreachable: any number is
}

void take_operation(byte_input& ar, block_operation& x, uint64_t& content) {
  uint8_t flags = 0;
  ar(flags, x.stream);
  x.action = static_cast<atproto::op_action>(flags & action_mask);
  if ((flags & action_mask) == 0)
    throw bad_value{"an operation's flags are unknown"};
  take_rkey(ar, (flags & rkey_is_tid) != 0, x.rkey);
  ar(x.id);
  x.undecodable = (flags & is_undecodable) != 0;
  if ((flags & has_skip) != 0) {
    ar(x.skip);
    if (x.skip == 0)
      throw bad_value{"an operation's flags are wrong"};
  }
  if ((flags & content_is_given) != 0) {
    ar(x.content);
    if (x.content == 0 || x.content == content + 1
        || (flags & content_follows) != 0)
      throw bad_value{"a content number is wrong"};
  } else if ((flags & content_follows) != 0) {
    x.content = content + 1;
    if (x.content == 0)
      throw bad_value{"a content number is wrong"};
  }
  if (x.content != 0)
    content = x.content;
  if ((flags & has_replaced) != 0) {
    ar(x.replaced);
    if (x.replaced == 0)
      throw bad_value{"an operation's flags are wrong"};
  }
}

/// Says what is wrong with a block in any case; null when nothing is.
const char* fault_of(const log_block& x) {
  if (x.ops.empty())
    return "it has no operation";
  if (x.ops.size() > limits::transaction_ops_max)
    return "it has too many operations";
  if (x.from < provenance::live || x.from > provenance::resync)
    return "its provenance is unknown";
  bool has_commit = false;
  for (const auto& stream : x.streams) {
    if (stream.first_index == 0 && stream.previous != atproto::digest{})
      return "a new stream has a past";
    has_commit |= stream.scope == commit_scope_id;
  }
  if (x.passed != 0 && !has_commit)
    return "commits were passed before it, and it is none";
  std::vector<bool> used(x.streams.size());
  for (const auto& op : x.ops) {
    if (op.stream >= x.streams.size())
      return "an operation has no stream";
    if (op.action < atproto::op_action::create
        || op.action > atproto::op_action::remove)
      return "an action is unknown";
    used[op.stream] = true;
  }
  for (const bool one : used)
    if (!one)
      return "a stream has no operation";
  return nullptr;
}

void take_block(byte_input& ar, log_block& x) {
  int64_t delay_us = 0;
  ar(x.repo, x.rev, x.from, x.live, x.job, x.cause, x.time_us, delay_us,
     x.previous, x.events_before, x.passed);
  x.written_us = static_cast<int64_t>(static_cast<uint64_t>(x.time_us)
                                      + static_cast<uint64_t>(delay_us));
  x.streams.resize(std::min(ar.take_count(), limits::transaction_ops_max + 1));
  for (auto& stream : x.streams)
    each_field(ar, stream);
  x.ops.resize(std::min(ar.take_count(), limits::transaction_ops_max + 1));
  uint64_t content = 0;
  for (auto& op : x.ops)
    take_operation(ar, op, content);
  if (const char* fault = fault_of(x))
    throw bad_value{fault};
}

} // namespace

uint64_t log_block::events() const noexcept {
  uint64_t out = 0;
  for (const auto& op : ops)
    out += is_event_scope(streams[op.stream].scope) ? 1 : 0;
  return out;
}

result<std::string> encode_log_block(const log_block& x) {
  if (x.ops.size() > limits::transaction_ops_max)
    return fail(ec::limit_reached, "a log block has too many operations");
  if (const char* fault = fault_of(x))
    return fail(ec::invalid_argument, std::string{"a log block: "} + fault);
  byte_output ar;
  ar.data.reserve(160 + 48 * x.streams.size() + 64 * x.ops.size());
  const auto delay_us = static_cast<int64_t>(
    static_cast<uint64_t>(x.written_us) - static_cast<uint64_t>(x.time_us));
  ar(value_format, x.repo, x.rev, x.from, x.live, x.job, x.cause, x.time_us,
     delay_us, x.previous, x.events_before, x.passed);
  ar.put_varint(x.streams.size());
  for (const auto& stream : x.streams)
    each_field(ar, stream);
  ar.put_varint(x.ops.size());
  uint64_t content = 0;
  for (const auto& op : x.ops)
    put_operation(ar, op, content);
  ar.put_fixed32(crc32c(ar.data));
  return std::move(ar.data);
}

result<log_block> decode_log_block(std::string_view x) {
  if (x.size() < checksum_size)
    return fail(ec::storage_failure,
                "a value of the table log_block is damaged: it ends early");
  const auto body = x.substr(0, x.size() - checksum_size);
  if (byte_input{x.substr(body.size())}.take_fixed32() != crc32c(body))
    return fail(ec::storage_failure,
                "a value of the table log_block is damaged: "
                "its checksum is wrong");
  return guarded<log_block>(body, table::log_block, take_block);
}

} // namespace weir::storage
