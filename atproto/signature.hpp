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

/// A parsed, verified-to-be-on-the-curve signing key, ready for many checks:
/// parsing costs as much as a verification, so hold on to
/// this object (protocol-coverage.md 7).
///
/// # Ownership and threads
/// A value sharing its parsed form; checks may run on many threads at once.
class public_key {
public:
  public_key() = default;

  /// `z...` Multikey with a k256 or p256 prefix; exactly 35 bytes.
  static result<public_key> from_multikey(std::string_view multibase);

  /// Legacy verification methods: bare point, 33 or 65 bytes, curve given.
  static result<public_key> from_legacy(curve which,
                                        std::string_view multibase);

  /// `did:key:z...`.
  static result<public_key> from_did_key(std::string_view x);

  /// A point, 33 bytes compressed or 65 bytes uncompressed.
  static result<public_key> from_point(curve which, bytes_view point);

  /// True when `sig` signs `message` (SHA-256 inside). Low-S is required.
  bool verify(bytes_view message, bytes_view sig) const;

  /// Same for a digest computed before.
  bool verify_digest(const digest& hash, bytes_view sig) const;

  /// Multikey text, `zQ3s...` or `zDn...`. Empty for the empty key.
  std::string to_multikey() const;

  curve which() const noexcept;

  bool defined() const noexcept { return impl_ != nullptr; }

  friend bool operator==(const public_key& x, const public_key& y);

private:
  struct impl;
  std::shared_ptr<const impl> impl_;
};

/// A signing key of the simulated network and of tests. The engine holds none.
class private_key {
public:
  static private_key generate(curve which, random_source& random);

  /// 32 bytes, in [1, n - 1].
  static result<private_key> from_bytes(curve which, bytes_view secret);

  /// Low-S signature over SHA-256 of `message`.
  signature sign(bytes_view message) const;

  public_key public_part() const;

  bytes_view secret() const noexcept { return secret_; }

private:
  curve which_ = curve::k256;
  std::array<uint8_t, 32> secret_{};
};

} // namespace weir::atproto
