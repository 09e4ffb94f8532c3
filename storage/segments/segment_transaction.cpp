#include "storage/segments/segment_transaction.hpp"

#include "atproto/dag_cbor.hpp"
#include "storage/format/hashes.hpp"
#include "storage/format/limits.hpp"

#include <algorithm>
#include <array>

namespace weir::storage {

namespace {

using atproto::op_action;
using atproto::cbor::reader;
using atproto::cbor::writer;

constexpr int64_t version = 1;
constexpr size_t job_bytes = 8;

constexpr std::array<std::pair<provenance, std::string_view>, 3> origins{{
  {provenance::live, "live"},
  {provenance::buffer, "buffer"},
  {provenance::resync, "resync"},
}};

constexpr std::array actions{op_action::create, op_action::update,
                             op_action::remove};

error damaged(const char* what) {
  return fail(ec::storage_failure,
              std::string{"a transaction has no valid "} + what);
}

// -- writing ------------------------------------------------------------------

void put_digest(const std::optional<atproto::digest>& x, writer& out) {
  if (x)
    out.put_bytes(*x);
  else
    out.put_null();
}

void put_job(uint64_t job, writer& out) {
  std::array<uint8_t, job_bytes> big_endian{};
  for (size_t i = 0; i < job_bytes; ++i)
    big_endian[i] = static_cast<uint8_t>(job >> (8 * (job_bytes - 1 - i)));
  if (job == 0)
    out.put_null();
  else
    out.put_bytes(big_endian);
}

void put_stream(const segment_stream& x, writer& out) {
  out.begin_map(6).put_text("hash").put_bytes(x.hash);
  out.put_text("prev").put_bytes(x.previous);
  out.put_text("index").put_int(static_cast<int64_t>(x.index));
  out.put_text("scope").put_text(x.scope);
  out.put_text("branch").put_text(branch_name(main_branch));
  out.put_text("prevOp");
  put_digest(x.before, out);
}

void put_operation(const segment_operation& x, writer& out) {
  out.begin_map(7).put_text("op").put_text(to_string(x.action));
  out.put_text("cid").put_link_or_null(x.id);
  out.put_text("body");
  if (x.body.empty())
    out.put_null();
  else
    out.put_bytes(x.body.view());
  out.put_text("rkey").put_text(x.rkey).put_text("skip").put_int(0);
  out.put_text("stream").put_int(x.stream);
  out.put_text("invalid").put_bool(x.undecodable);
}

// -- reading ------------------------------------------------------------------

/// Reads what `encode_transaction` writes, item by item. After the first item
/// that is none, all further ones are empty.
class item_reader {
public:
  explicit item_reader(const shared_bytes& payload)
    : payload_(payload), from_(payload.view()) {}

  bool ok() const noexcept { return ok_; }

  bool at_end() const noexcept { return from_.at_end(); }

  void fail() noexcept { ok_ = false; }

  void map(size_t entries) { ok_ = take(from_.read_map()) == entries && ok_; }

  size_t array() { return take(from_.read_array()); }

  void key(std::string_view name) { ok_ = text() == name && ok_; }

  std::string_view text() { return take(from_.read_text()); }

  int64_t number() { return take(from_.read_int()); }

  bool flag() { return take(from_.read_bool()); }

  atproto::cid link_or_null() {
    return from_.try_null() ? atproto::cid{} : take(from_.read_link());
  }

  bool null() { return from_.try_null(); }

  uint64_t natural() {
    const auto x = number();
    ok_ = ok_ && x >= 0;
    return ok_ ? static_cast<uint64_t>(x) : 0;
  }

  atproto::digest digest() {
    const auto x = take(from_.read_bytes());
    atproto::digest out{};
    ok_ = ok_ && x.size() == out.size();
    if (ok_)
      std::copy(x.begin(), x.end(), out.begin());
    return out;
  }

  uint64_t job() {
    if (null())
      return 0;
    const auto x = take(from_.read_bytes());
    ok_ = ok_ && x.size() == job_bytes;
    uint64_t out = 0;
    for (const auto byte : x)
      out = out << 8 | byte;
    ok_ = ok_ && out != 0;
    return out;
  }

  shared_bytes body() {
    if (null())
      return {};
    const auto x = take(from_.read_bytes());
    ok_ = ok_ && !x.empty();
    return ok_ ? payload_.slice(x) : shared_bytes{};
  }

private:
  template <class T>
  T take(result<T> x) {
    ok_ = ok_ && x;
    return ok_ ? std::move(*x) : T{};
  }

  const shared_bytes& payload_;
  reader from_;
  bool ok_ = true;
};

atproto::tid read_rev(item_reader& from) {
  if (from.null())
    return {};
  const auto out = atproto::tid::parse(from.text());
  if (!out || !out->defined())
    from.fail();
  return out ? *out : atproto::tid{};
}

provenance read_origin(item_reader& from) {
  const auto text = from.text();
  for (const auto& [value, name] : origins)
    if (name == text)
      return value;
  from.fail();
  return provenance::live;
}

op_action read_action(item_reader& from) {
  const auto text = from.text();
  for (const auto x : actions)
    if (to_string(x) == text)
      return x;
  from.fail();
  return op_action::create;
}

segment_stream read_stream(item_reader& from) {
  segment_stream out;
  from.map(6);
  from.key("hash");
  out.hash = from.digest();
  from.key("prev");
  out.previous = from.digest();
  from.key("index");
  out.index = from.natural();
  from.key("scope");
  out.scope = from.text();
  from.key("branch");
  if (from.text() != branch_name(main_branch))
    from.fail();
  from.key("prevOp");
  if (!from.null())
    out.before = from.digest();
  return out;
}

segment_operation read_operation(item_reader& from) {
  segment_operation out;
  from.map(7);
  from.key("op");
  out.action = read_action(from);
  from.key("cid");
  out.id = from.link_or_null();
  from.key("body");
  out.body = from.body();
  from.key("rkey");
  out.rkey = from.text();
  from.key("skip");
  if (from.natural() != 0)
    from.fail();
  from.key("stream");
  out.stream = static_cast<uint32_t>(
    std::min<uint64_t>(from.natural(), limits::transaction_ops_max));
  from.key("invalid");
  out.undecodable = from.flag();
  if (out.undecodable && !out.body.empty())
    from.fail();
  return out;
}

/// @pre `from` is before the list
std::vector<segment_operation> read_operations(item_reader& from) {
  std::vector<segment_operation> out;
  const auto count = from.array();
  if (count == 0 || count > limits::transaction_ops_max)
    from.fail();
  for (size_t i = 0; from.ok() && i < count; ++i)
    out.push_back(read_operation(from));
  return out;
}

std::vector<segment_stream> read_streams(item_reader& from) {
  std::vector<segment_stream> out;
  const auto count = from.array();
  if (count == 0 || count > limits::transaction_ops_max)
    from.fail();
  for (size_t i = 0; from.ok() && i < count; ++i)
    out.push_back(read_stream(from));
  return out;
}

} // namespace

bytes encode_transaction(const segment_transaction& x) {
  writer out;
  out.begin_map(10).put_text("v").put_int(version);
  out.put_text("did").put_text(x.repo.str()).put_text("job");
  put_job(x.job, out);
  out.put_text("ops").begin_array(x.ops.size());
  for (const auto& op : x.ops)
    put_operation(op, out);
  out.put_text("rev");
  if (x.rev.defined())
    out.put_text(x.rev.str());
  else
    out.put_null();
  out.put_text("from");
  out.put_text(origins[static_cast<size_t>(x.from) - 1].second);
  out.put_text("live").put_bool(x.live);
  out.put_text("timeUs").put_int(x.time_us);
  out.put_text("streams").begin_array(x.streams.size());
  for (const auto& stream : x.streams)
    put_stream(stream, out);
  out.put_text("writtenUs").put_int(x.written_us);
  return out.take();
}

result<segment_transaction> decode_transaction(const shared_bytes& payload) {
  item_reader from{payload};
  segment_transaction out;
  from.map(10);
  from.key("v");
  if (from.number() != version)
    return damaged("version");
  from.key("did");
  const auto repo = atproto::did::parse(from.text());
  if (!repo)
    return damaged("DID");
  out.repo = *repo;
  from.key("job");
  out.job = from.job();
  from.key("ops");
  out.ops = read_operations(from);
  from.key("rev");
  out.rev = read_rev(from);
  from.key("from");
  out.from = read_origin(from);
  from.key("live");
  out.live = from.flag();
  from.key("timeUs");
  out.time_us = from.number();
  from.key("streams");
  out.streams = read_streams(from);
  from.key("writtenUs");
  out.written_us = from.number();
  const bool fits = std::ranges::all_of(out.ops, [&](const auto& op) {
    return op.stream < out.streams.size();
  });
  if (!from.ok() || !from.at_end() || !fits)
    return damaged("form");
  return out;
}

} // namespace weir::storage
