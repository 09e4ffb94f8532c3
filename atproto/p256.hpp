#pragma once

#include "atproto/cid.hpp"

#include <memory>

/// ECDSA on P-256 with OpenSSL; used only by `signature.cpp`. Scalars and
/// points are big-endian, and a signature is r || s.
namespace weir::atproto::p256 {

using scalar = std::array<uint8_t, 32>;

/// A parsed point of the curve, ready for many checks.
///
/// # Ownership and threads
/// Copies share the parsed form. Several threads may check at the same time.
class public_point {
public:
  public_point() = default;

  /// Undefined when `x` is no point of the curve in compressed or uncompressed
  /// form.
  static public_point parse(bytes_view x);

  bool defined() const noexcept { return key_ != nullptr; }

  /// True when `sig` (64 bytes) signs `hash` and its s is low.
  bool verify(const digest& hash, bytes_view sig) const;

private:
  std::shared_ptr<void> key_; ///< An `EVP_PKEY`.
};

/// True for a scalar in 1..n-1.
bool valid_secret(const scalar& secret);

/// Makes a low-S signature with the nonce of RFC 6979, so that equal inputs
/// give equal bytes. It does not run in constant time: use it only for keys
/// that protect nothing.
/// @pre `valid_secret(secret)`
std::array<uint8_t, 64> sign(const digest& hash, const scalar& secret);

/// The public point of `secret`, compressed. @pre `valid_secret(secret)`
std::array<uint8_t, 33> multiply_base(const scalar& secret);

} // namespace weir::atproto::p256
