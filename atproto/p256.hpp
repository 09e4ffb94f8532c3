#pragma once

#include "atproto/cid.hpp"

#include <memory>

/// ECDSA on P-256 by OpenSSL, for `signature.cpp` alone. Scalars and points
/// are big-endian; signatures are r || s.
namespace weir::atproto::p256 {

using scalar = std::array<uint8_t, 32>;

/// A parsed point, ready for many checks.
///
/// # Ownership and threads
/// Copies share; checks may run on many threads at once.
class public_point {
public:
  public_point() = default;

  /// Undefined when `x` is no point of the curve in compressed or
  /// uncompressed form.
  static public_point parse(bytes_view x);

  bool defined() const noexcept { return key_ != nullptr; }

  /// True when `sig` (64 bytes) signs `hash` and its s is low.
  bool verify(const digest& hash, bytes_view sig) const;

private:
  std::shared_ptr<void> key_; ///< An `EVP_PKEY`.
};

/// In 1..n-1.
bool valid_secret(const scalar& secret);

/// Signs with the nonce of RFC 6979, so that equal inputs give equal bytes,
/// and low s. Not in constant time: for keys that protect nothing.
/// @pre `valid_secret(secret)`
std::array<uint8_t, 64> sign(const digest& hash, const scalar& secret);

/// The public point of `secret`, compressed. @pre `valid_secret(secret)`
std::array<uint8_t, 33> multiply_base(const scalar& secret);

} // namespace weir::atproto::p256
