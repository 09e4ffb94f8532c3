#include "atproto/mst_node.hpp"

#include "atproto/cbor_walk.hpp"
#include "atproto/limits.hpp"
#include "atproto/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace weir::atproto::mst {

namespace {

using cbor::fault;

constexpr uint8_t encoded_null = 0xf6;

// The schema is closed and the encoding canonical, so there is one way to write
// a node, and the reader can compare bytes. An 'a' is also the head of a text
// of one letter.
constexpr std::string_view node_head = "\xa2\x61\x65";  // {"e":
constexpr std::string_view node_left = "al";            // "l":
constexpr std::string_view entry_head = "\xa4\x61\x6b"; // {"k":
constexpr std::string_view entry_prefix = "ap";         // "p":
constexpr std::string_view entry_right = "at";          // "t":
constexpr std::string_view entry_value = "av";          // "v":

/// Tag 42 and a byte string of 37 bytes: 0x00 and a blessed CID.
constexpr std::string_view blessed_link{"\xd8\x2a\x58\x25\x00", 5};

/// The first bytes of a blessed dag-cbor CID.
constexpr std::string_view dag_cbor_cid{"\x01\x71\x12\x20", 4};

constexpr const char* broken = "not the one form of an MST node";

bool take(const uint8_t*& at, const uint8_t* end,
          std::string_view literal) noexcept {
  if (static_cast<size_t>(end - at) < literal.size()
      || std::memcmp(at, literal.data(), literal.size()) != 0)
    return false;
  at += literal.size();
  return true;
}

bool is_dag_cbor(bytes_view x) noexcept {
  return x.size() == cid::blessed_size && as_text(x).starts_with(dag_cbor_cid);
}

/// Takes a link with any well-formed CID.
bool take_any_link(const uint8_t*& at, const uint8_t* end,
                   bytes_view& out) noexcept {
  constexpr auto whole = blessed_link.size() + cid::blessed_size;
  if (static_cast<size_t>(end - at) >= whole
      && std::memcmp(at, blessed_link.data(), blessed_link.size()) == 0) {
    out = {at + blessed_link.size(), cid::blessed_size};
    if (is_dag_cbor(out)) {
      at += whole;
      return true;
    }
  }
  cbor::item_head head;
  return cbor::take_head(at, end, head) == fault::none
         && head.major == cbor::major_tag
         && cbor::take_link(at, end, head.value, out) == fault::none;
}

/// Takes null or a link to a node.
bool take_node_link(const uint8_t*& at, const uint8_t* end,
                    bytes_view& out) noexcept {
  if (at != end && *at == encoded_null) {
    ++at;
    out = {};
    return true;
  }
  return take_any_link(at, end, out) && is_dag_cbor(out);
}

bool take_number(const uint8_t*& at, const uint8_t* end, uint8_t major,
                 uint64_t& out) noexcept {
  cbor::item_head head;
  if (cbor::take_head(at, end, head) != fault::none || head.major != major)
    return false;
  out = head.value;
  return true;
}

bool take_entry(const uint8_t*& at, const uint8_t* end,
                node_reader::raw_entry& out) noexcept {
  uint64_t size = 0;
  if (!take(at, end, entry_head)
      || !take_number(at, end, cbor::major_bytes, size)
      || size > static_cast<uint64_t>(end - at))
    return false;
  out.suffix = as_text({at, static_cast<size_t>(size)});
  at += size;
  return take(at, end, entry_prefix)
         && take_number(at, end, cbor::major_unsigned, out.prefix)
         && take(at, end, entry_right) && take_node_link(at, end, out.right)
         && take(at, end, entry_value) && take_any_link(at, end, out.value);
}

/// Checks that `x` may follow the key `before`: it shares the longest possible
/// prefix and is greater.
const char* check_key(std::string_view before,
                      const node_reader::raw_entry& x) noexcept {
  if (x.prefix > before.size())
    return "the prefix is longer than the key before";
  if (x.suffix.empty())
    return before.empty() ? "empty MST key" : "keys do not grow";
  if (x.prefix + x.suffix.size() > limits::mst_key_bytes_max)
    return "MST key too long";
  if (x.prefix == before.size())
    return nullptr;
  const auto was = static_cast<uint8_t>(before[x.prefix]);
  const auto now = static_cast<uint8_t>(x.suffix.front());
  if (was == now)
    return "the prefix is not the longest";
  return was < now ? nullptr : "keys do not grow";
}

void extend(std::string& key, const node_reader::raw_entry& x) {
  key.resize(static_cast<size_t>(x.prefix));
  key.append(x.suffix);
}

} // namespace

// -- node_reader --------------------------------------------------------------

result<void> node_reader::open(bytes_view block) {
  if (block.size() > limits::mst_node_bytes_max)
    return fail(ec::limit_reached, "MST node too large");
  const auto* at = block.data();
  const auto* end = at + block.size();
  uint64_t size = 0;
  if (!take(at, end, node_head)
      || !take_number(at, end, cbor::major_array, size))
    return fail(ec::malformed, broken);
  if (size > limits::mst_node_entries_max)
    return fail(ec::limit_reached, "too many entries in an MST node");
  size_ = static_cast<size_t>(size);
  at_ = at;
  if (auto checked = check_entries(at, end); !checked)
    return checked;
  if (!take(at, end, node_left) || !take_node_link(at, end, left_) || at != end)
    return fail(ec::malformed, broken);
  block_ = block;
  left_over_ = size_;
  key_.clear();
  return {};
}

result<void> node_reader::check_entries(const uint8_t*& at,
                                        const uint8_t* end) {
  key_.clear();
  for (size_t i = 0; i < size_; ++i) {
    if (!take_entry(at, end, entry_))
      return fail(ec::malformed, broken);
    if (const auto* what = check_key(key_, entry_))
      return fail(ec::malformed, what);
    extend(key_, entry_);
  }
  return {};
}

bool node_reader::next() {
  if (left_over_ == 0)
    return false;
  --left_over_;
  take_entry(at_, block_.data() + block_.size(), entry_);
  extend(key_, entry_);
  return true;
}

// -- node_writer --------------------------------------------------------------

namespace {

/// Space before the entries, for `node_head` and the longest array head.
constexpr size_t head_room = 3 + 9;

/// An upper bound of what an entry takes besides its key suffix and CIDs.
constexpr size_t entry_room = 64;

void put(uint8_t*& out, std::string_view x) noexcept {
  std::memcpy(out, x.data(), x.size());
  out += x.size();
}

/// Writes a head in its shortest form.
void put_head(uint8_t*& out, uint8_t major, uint64_t n) noexcept {
  const auto top = static_cast<uint8_t>(major << 5);
  if (n < 24) {
    *out++ = static_cast<uint8_t>(top | n);
    return;
  }
  const int width = n <= UINT8_MAX    ? 1
                    : n <= UINT16_MAX ? 2
                    : n <= UINT32_MAX ? 4
                                      : 8;
  *out++ = static_cast<uint8_t>(top | (24 + std::countr_zero(unsigned(width))));
  for (int i = width - 1; i >= 0; --i)
    *out++ = static_cast<uint8_t>(n >> (8 * i));
}

void put_link(uint8_t*& out, bytes_view x) noexcept {
  if (x.empty()) {
    *out++ = encoded_null;
    return;
  }
  if (x.size() == cid::blessed_size) {
    put(out, blessed_link);
  } else {
    put_head(out, cbor::major_tag, cbor::tag_link);
    put_head(out, cbor::major_bytes, x.size() + 1);
    *out++ = 0;
  }
  put(out, as_text(x));
}

} // namespace

node_writer::node_writer() : out_(1024), end_(head_room) {}

/// Makes room for `size` more bytes after what is written.
uint8_t* node_writer::grow(size_t size) {
  if (out_.size() - end_ < size)
    out_.resize(2 * out_.size() + size);
  return out_.data() + end_;
}

void node_writer::add(std::string_view key, bytes_view value,
                      bytes_view right) {
  const auto shared = shared_prefix(key_, key);
  auto* at
    = grow(key.size() - shared + value.size() + right.size() + entry_room);
  put(at, entry_head);
  put_head(at, cbor::major_bytes, key.size() - shared);
  put(at, key.substr(shared));
  put(at, entry_prefix);
  put_head(at, cbor::major_unsigned, shared);
  put(at, entry_right);
  put_link(at, right);
  put(at, entry_value);
  put_link(at, value);
  end_ = static_cast<size_t>(at - out_.data());
  key_ = key;
  ++size_;
}

bytes_view node_writer::finish(bytes_view left) {
  auto* at = grow(left.size() + entry_room);
  put(at, node_left);
  put_link(at, left);
  end_ = static_cast<size_t>(at - out_.data());
  // The head goes directly before the entries, now that its size is known.
  std::array<uint8_t, head_room> head;
  auto* head_end = head.data();
  put(head_end, node_head);
  put_head(head_end, cbor::major_array, size_);
  const auto head_size = static_cast<size_t>(head_end - head.data());
  const auto start = head_room - head_size;
  std::memcpy(out_.data() + start, head.data(), head_size);
  return bytes_view{out_}.subspan(start, end_ - start);
}

void node_writer::clear() noexcept {
  end_ = head_room;
  key_.clear();
  size_ = 0;
}

// -- free functions -----------------------------------------------------------

size_t shared_prefix(std::string_view x, std::string_view y) noexcept {
  const auto both = std::min(x.size(), y.size());
  const auto [at, other]
    = std::mismatch(x.begin(), x.begin() + both, y.begin());
  return static_cast<size_t>(at - x.begin());
}

cid to_cid(bytes_view binary) {
  if (binary.empty())
    return {};
  if (is_dag_cbor(binary)) {
    digest hash;
    std::memcpy(hash.data(), binary.data() + dag_cbor_cid.size(), hash.size());
    return {cid::codec_dag_cbor, hash};
  }
  return cid::from_bytes(binary).value();
}

int key_depth(std::string_view key) {
  const auto hash = sha256(as_bytes(key));
  int zeros = 0;
  for (const auto byte : hash) {
    zeros += std::countl_zero(byte);
    if (byte != 0)
      break;
  }
  return zeros / 2;
}

const cid& empty_root() {
  static const auto id = cid::of_dag_cbor(node_writer{}.finish({}));
  return id;
}

} // namespace weir::atproto::mst
