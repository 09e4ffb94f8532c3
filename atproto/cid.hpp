#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace weir::atproto {

/// SHA-256 digest.
using digest = std::array<uint8_t, 32>;

/// A content identifier in binary form, exactly as found
/// (protocol-coverage.md 7).
///
/// The blessed form is CIDv1 with codec dag-cbor (0x71) or raw (0x55) and a
/// SHA-256 multihash: 36 bytes, held inline. Any other well-formed CID is kept
/// byte for byte, up to `limits::cid_bytes_max`, so that trees holding one can
/// be rebuilt; it never passes `is_dag_cbor()`.
///
/// # Ownership and threads
/// A value. Comparison is bytewise; text forms are never compared.
class cid {
public:
  static constexpr size_t blessed_size = 36;
  static constexpr uint8_t codec_dag_cbor = 0x71;
  static constexpr uint8_t codec_raw = 0x55;

  /// The undefined CID: empty, equal only to itself.
  cid() = default;

  /// CIDv1, SHA-256 over some block, with `codec`.
  cid(uint8_t codec, const digest& hash) noexcept;

  /// CID of a dag-cbor block: hashes `block`.
  static cid of_dag_cbor(bytes_view block);

  /// CID of a raw block (blob): hashes `block`.
  static cid of_raw(bytes_view block);

  /// Parses a whole binary CID (v1, or v0's bare multihash).
  static result<cid> from_bytes(bytes_view x);

  /// Parses a CID at the front of `x`, sets `used` to its length.
  static result<cid> from_prefix(bytes_view x, size_t& used);

  /// Length of the well-formed CID at the front of `x`, 0 when there is none.
  static size_t measure(bytes_view x) noexcept;

  /// Parses `b` + base32 lower case (CIDv1 only).
  static result<cid> from_text(std::string_view x);

  bytes_view view() const noexcept;

  /// Base32 text, `bafyrei...` or `bafkrei...` for blessed CIDs; base58 for a
  /// CIDv0, which has no other text.
  std::string to_text() const;

  bool defined() const noexcept { return size_ != 0; }

  /// Blessed and dag-cbor: the only form commits, nodes and roots may have.
  bool is_dag_cbor() const noexcept { return blessed(codec_dag_cbor); }

  /// Blessed and raw.
  bool is_raw() const noexcept { return blessed(codec_raw); }

  /// @pre blessed
  const uint8_t* hash_data() const noexcept { return inline_.data() + 4; }

  friend bool operator==(const cid& x, const cid& y) noexcept;

  friend std::strong_ordering operator<=>(const cid& x, const cid& y) noexcept;

private:
  bool blessed(uint8_t codec) const noexcept;

  uint8_t size_ = 0;
  std::array<uint8_t, blessed_size> inline_{}; ///< Zero behind a short CID.
  std::shared_ptr<const bytes> long_; ///< Set when size_ > blessed_size.
};

} // namespace weir::atproto

template <>
struct std::hash<weir::atproto::cid> {
  size_t operator()(const weir::atproto::cid& x) const noexcept;
};
