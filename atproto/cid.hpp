#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace weir::atproto {

/// A SHA-256 digest.
using digest = std::array<uint8_t, 32>;

/// A content identifier in binary form, kept exactly as it was found
/// (protocol-coverage.md 7).
///
/// The blessed form is CIDv1 with codec dag-cbor (0x71) or raw (0x55) and a
/// SHA-256 multihash. It has 36 bytes and is stored inline. Any other
/// well-formed CID is kept byte for byte, up to `limits::cid_bytes_max`, so
/// that a tree that contains one can be rebuilt; `is_dag_cbor()` is false for
/// it.
///
/// # Ownership and threads
/// A value. Comparison is bytewise and never uses the text form.
class cid {
public:
  static constexpr size_t blessed_size = 36;
  static constexpr uint8_t codec_dag_cbor = 0x71;
  static constexpr uint8_t codec_raw = 0x55;

  /// The undefined CID. It is empty and equal only to itself.
  cid() = default;

  /// A CIDv1 with `codec` and a SHA-256 `hash`.
  cid(uint8_t codec, const digest& hash) noexcept;

  /// The CID of a dag-cbor block; hashes `block`.
  static cid of_dag_cbor(bytes_view block);

  /// The CID of a raw block (a blob); hashes `block`.
  static cid of_raw(bytes_view block);

  /// Parses a whole binary CID: v1, or the bare multihash of v0.
  static result<cid> from_bytes(bytes_view x);

  /// Parses the CID at the front of `x` and sets `used` to its length.
  static result<cid> from_prefix(bytes_view x, size_t& used);

  /// Length of the well-formed CID at the front of `x`, or 0 when there is
  /// none.
  static size_t measure(bytes_view x) noexcept;

  /// Parses `b` and base32 in lower case. CIDv1 only.
  static result<cid> from_text(std::string_view x);

  bytes_view view() const noexcept;

  /// The text in base32: `bafyrei...` or `bafkrei...` for blessed CIDs. A CIDv0
  /// has only a base58 text.
  std::string to_text() const;

  bool defined() const noexcept { return size_ != 0; }

  /// True for a blessed CID of codec dag-cbor, the only form that commits,
  /// nodes and roots may have.
  bool is_dag_cbor() const noexcept { return blessed(codec_dag_cbor); }

  /// True for a blessed CID of codec raw.
  bool is_raw() const noexcept { return blessed(codec_raw); }

  /// The 32 bytes of the digest. @pre The CID is blessed.
  const uint8_t* hash_data() const noexcept { return inline_.data() + 4; }

  friend bool operator==(const cid& x, const cid& y) noexcept;

private:
  bool blessed(uint8_t codec) const noexcept;

  uint8_t size_ = 0;
  /// Bytes behind a short CID are zero.
  std::array<uint8_t, blessed_size> inline_{};
  std::shared_ptr<const bytes> long_; ///< Set when size_ > blessed_size.
};

} // namespace weir::atproto

template <>
struct std::hash<weir::atproto::cid> {
  size_t operator()(const weir::atproto::cid& x) const noexcept;
};
