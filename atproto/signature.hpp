#pragma once

#include "atproto/cid.hpp"
#include "base/random.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace weir::atproto {

enum class curve : uint8_t { k256, p256 };

/// r || s, big-endian, 64 bytes.
using signature = std::array<uint8_t, 64>;

/// A signing key that was parsed and is known to be a point of its curve
/// (protocol-coverage.md 7). Parsing costs as much as checking a signature, so
/// keep the object.
///
/// # Ownership and threads
/// A value that shares its parsed form. Several threads may check at the same
/// time.
class public_key {
public:
  public_key() = default;

  /// Parses a `z...` Multikey with a k256 or p256 prefix; exactly 35 bytes.
  static result<public_key> from_multikey(std::string_view multibase);

  /// Parses the bare point of a legacy verification method: 33 or 65 bytes. The
  /// method names the curve.
  static result<public_key> from_legacy(curve which,
                                        std::string_view multibase);

  /// Parses a point: 33 bytes compressed or 65 bytes uncompressed.
  static result<public_key> from_point(curve which, bytes_view point);

  /// True when `sig` is a signature of the SHA-256 of `message`. Its s must be
  /// low.
  bool verify(bytes_view message, bytes_view sig) const;

  /// The same for a digest that is already computed.
  bool verify_digest(const digest& hash, bytes_view sig) const;

  /// The Multikey text, `zQ3s...` or `zDn...`; empty for the empty key.
  std::string to_multikey() const;

  curve which() const noexcept;

  bool defined() const noexcept { return impl_ != nullptr; }

  friend bool operator==(const public_key& x, const public_key& y);

private:
  struct impl;
  std::shared_ptr<const impl> impl_;
};

/// A signing key for the simulated network and tests. The engine has none.
class private_key {
public:
  static private_key generate(curve which, random_source& random);

  /// @param secret 32 bytes, a number in [1, n - 1].
  static result<private_key> from_bytes(curve which, bytes_view secret);

  /// Makes a low-S signature of the SHA-256 of `message`.
  signature sign(bytes_view message) const;

  public_key public_part() const;

private:
  curve which_ = curve::k256;
  std::array<uint8_t, 32> secret_{};
};

} // namespace weir::atproto
