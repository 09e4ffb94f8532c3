#include "atproto/cid.hpp"

#include "atproto/base_encodings.hpp"
#include "atproto/identifiers.hpp"
#include "atproto/limits.hpp"
#include "atproto/sha256.hpp"

#include <algorithm>
#include <cstring>

namespace weir::atproto {

namespace {

constexpr uint8_t multihash_sha256 = 0x12;
constexpr uint8_t sha256_size = 0x20;

/// Size of a CIDv0, the bare multihash of a SHA-256.
constexpr size_t v0_size = 34;

bool is_v0(bytes_view x) noexcept {
  return x.size() >= 2 && x[0] == multihash_sha256 && x[1] == sha256_size;
}

/// Takes a varint of at most 9 bytes in its shortest form off the front of `x`.
bool take_varint(bytes_view& x, uint64_t& value) noexcept {
  constexpr size_t varint_bytes_max = 9;
  value = 0;
  for (size_t i = 0; i < std::min(x.size(), varint_bytes_max); ++i) {
    const auto byte = x[i];
    value |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) {
      x = x.subspan(i + 1);
      return byte != 0 || i == 0;
    }
  }
  return false;
}

} // namespace

cid::cid(uint8_t codec, const digest& hash) noexcept : size_(blessed_size) {
  inline_[0] = 1;
  inline_[1] = codec;
  inline_[2] = multihash_sha256;
  inline_[3] = sha256_size;
  std::copy(hash.begin(), hash.end(), inline_.begin() + 4);
}

cid cid::of_dag_cbor(bytes_view block) {
  return {codec_dag_cbor, sha256(block)};
}

cid cid::of_raw(bytes_view block) {
  return {codec_raw, sha256(block)};
}

size_t cid::measure(bytes_view x) noexcept {
  if (is_v0(x))
    return x.size() >= v0_size ? v0_size : 0;
  auto rest = x;
  uint64_t version = 0;
  uint64_t codec = 0;
  uint64_t hash = 0;
  uint64_t hash_size = 0;
  if (!take_varint(rest, version) || version != 1 || !take_varint(rest, codec)
      || !take_varint(rest, hash) || !take_varint(rest, hash_size)
      || hash_size > rest.size())
    return 0;
  const auto size = x.size() - rest.size() + static_cast<size_t>(hash_size);
  return size <= limits::cid_bytes_max ? size : 0;
}

result<cid> cid::from_prefix(bytes_view x, size_t& used) {
  used = measure(x);
  if (used == 0)
    return fail(ec::malformed, "not a CID");
  cid out;
  out.size_ = static_cast<uint8_t>(used);
  if (used <= blessed_size)
    std::memcpy(out.inline_.data(), x.data(), used);
  else
    out.long_ = std::make_shared<const bytes>(
      x.begin(), x.begin() + static_cast<std::ptrdiff_t>(used));
  return out;
}

result<cid> cid::from_bytes(bytes_view x) {
  size_t used = 0;
  auto out = from_prefix(x, used);
  if (out && used != x.size())
    return fail(ec::malformed, "bytes behind a CID");
  return out;
}

result<cid> cid::from_text(std::string_view x) {
  if (!x.starts_with('b') || x.size() > 1 + base32_size(limits::cid_bytes_max))
    return fail(ec::malformed, "not the base32 text of a CID");
  const auto binary = decode_base32(x.substr(1));
  if (!binary || is_v0(*binary))
    return fail(ec::malformed, "not the base32 text of a CID");
  return from_bytes(*binary);
}

bytes_view cid::view() const noexcept {
  if (size_ > blessed_size)
    return *long_;
  return {inline_.data(), size_};
}

std::string cid::to_text() const {
  if (is_v0(view()))
    return encode_base58(view());
  std::string out;
  if (defined()) {
    out = 'b';
    append_base32(view(), out);
  }
  return out;
}

bool cid::blessed(uint8_t codec) const noexcept {
  return size_ == blessed_size && inline_[0] == 1 && inline_[1] == codec
         && inline_[2] == multihash_sha256 && inline_[3] == sha256_size;
}

bool operator==(const cid& x, const cid& y) noexcept {
  if (x.size_ != y.size_)
    return false;
  return x.size_ > cid::blessed_size ? *x.long_ == *y.long_
                                     : x.inline_ == y.inline_;
}

} // namespace weir::atproto

size_t std::hash<weir::atproto::cid>::operator()(
  const weir::atproto::cid& x) const noexcept {
  // The last bytes of a digest are already a good hash.
  if (const auto bytes = x.view();
      bytes.size() == weir::atproto::cid::blessed_size) {
    size_t out = 0;
    std::memcpy(&out, bytes.data() + bytes.size() - sizeof(out), sizeof(out));
    return out;
  }
  return static_cast<size_t>(
    weir::atproto::stable_hash(weir::as_text(x.view())));
}
