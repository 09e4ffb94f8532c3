#include "atproto/signature.hpp"

#include "atproto/base_encodings.hpp"
#include "atproto/p256.hpp"
#include "atproto/sha256.hpp"

#include <secp256k1.h>

#include <algorithm>

namespace weir::atproto {

namespace {

constexpr size_t compressed_size = 33;
constexpr size_t uncompressed_size = 65;
constexpr size_t signature_size = 64;

/// The multicodec of a compressed public key, as a varint.
using key_prefix = std::array<uint8_t, 2>;
constexpr key_prefix k256_prefix{0xe7, 0x01};
constexpr key_prefix p256_prefix{0x80, 0x24};

/// The context is never changed after this, so all threads share it.
const secp256k1_context* k256() {
  static const auto* context = secp256k1_context_create(SECP256K1_CONTEXT_NONE);
  return context;
}

/// Accepts the compressed and the uncompressed form. Both libraries would also
/// take the hybrid form.
bool point_form(bytes_view x) noexcept {
  if (x.size() == compressed_size)
    return x[0] == 2 || x[0] == 3;
  return x.size() == uncompressed_size && x[0] == 4;
}

result<bytes> decode_multibase(std::string_view x) {
  if (x.starts_with('z'))
    if (auto out = decode_base58(x.substr(1)))
      return *std::move(out);
  return fail(ec::malformed, "key is not base58btc multibase");
}

} // namespace

struct public_key::impl {
  curve which;
  /// The key's identity, compressed.
  std::array<uint8_t, compressed_size> point;
  secp256k1_pubkey k256;
  p256::public_point p256;
};

result<public_key> public_key::from_point(curve which, bytes_view point) {
  if (!point_form(point))
    return fail(ec::malformed, "key is not a point of 33 or 65 bytes");
  auto parsed = std::make_shared<impl>();
  parsed->which = which;
  bool good = false;
  if (which == curve::k256) {
    good = secp256k1_ec_pubkey_parse(k256(), &parsed->k256, point.data(),
                                     point.size())
           == 1;
  } else {
    parsed->p256 = p256::public_point::parse(point);
    good = parsed->p256.defined();
  }
  if (!good)
    return fail(ec::malformed, "key is not a point of its curve");
  // A compressed point is x and the parity of y.
  std::copy_n(point.begin(), compressed_size, parsed->point.begin());
  if (point.size() == uncompressed_size)
    parsed->point[0] = point.back() % 2 == 0 ? 2 : 3;
  public_key out;
  out.impl_ = std::move(parsed);
  return out;
}

result<public_key> public_key::from_multikey(std::string_view multibase) {
  const auto binary = decode_multibase(multibase);
  if (!binary)
    return binary.error();
  const bytes_view x = *binary;
  if (x.size() != k256_prefix.size() + compressed_size)
    return fail(ec::malformed, "key is not 35 bytes long");
  const auto prefix = x.first(k256_prefix.size());
  const auto point = x.subspan(k256_prefix.size());
  if (std::equal(prefix.begin(), prefix.end(), k256_prefix.begin()))
    return from_point(curve::k256, point);
  if (std::equal(prefix.begin(), prefix.end(), p256_prefix.begin()))
    return from_point(curve::p256, point);
  return fail(ec::malformed, "key of an unknown kind");
}

result<public_key> public_key::from_legacy(curve which,
                                           std::string_view multibase) {
  const auto binary = decode_multibase(multibase);
  if (!binary)
    return binary.error();
  return from_point(which, *binary);
}

bool public_key::verify(bytes_view message, bytes_view sig) const {
  return sig.size() == signature_size && verify_digest(sha256(message), sig);
}

bool public_key::verify_digest(const digest& hash, bytes_view sig) const {
  if (!defined() || sig.size() != signature_size)
    return false;
  if (impl_->which == curve::p256)
    return impl_->p256.verify(hash, sig);
  // This refuses r and s outside of 1..n-1, and high s (protocol-coverage.md
  // 7).
  secp256k1_ecdsa_signature parsed;
  return secp256k1_ecdsa_signature_parse_compact(k256(), &parsed, sig.data())
           == 1
         && secp256k1_ecdsa_verify(k256(), &parsed, hash.data(), &impl_->k256)
              == 1;
}

std::string public_key::to_multikey() const {
  if (!defined())
    return {};
  const auto& prefix = impl_->which == curve::k256 ? k256_prefix : p256_prefix;
  bytes binary(prefix.begin(), prefix.end());
  binary.insert(binary.end(), impl_->point.begin(), impl_->point.end());
  return "z" + encode_base58(binary);
}

curve public_key::which() const noexcept {
  return defined() ? impl_->which : curve::k256;
}

bool operator==(const public_key& x, const public_key& y) {
  if (!x.defined() || !y.defined())
    return x.defined() == y.defined();
  return x.impl_->which == y.impl_->which && x.impl_->point == y.impl_->point;
}

private_key private_key::generate(curve which, random_source& random) {
  std::array<uint8_t, 32> secret;
  for (;;) { // Only one in four billion is out of range.
    random.fill(secret);
    if (auto key = from_bytes(which, secret))
      return *std::move(key);
  }
}

result<private_key> private_key::from_bytes(curve which, bytes_view secret) {
  private_key out;
  out.which_ = which;
  if (secret.size() != out.secret_.size())
    return fail(ec::malformed, "secret is not 32 bytes long");
  std::copy(secret.begin(), secret.end(), out.secret_.begin());
  const bool good
    = which == curve::k256
        ? secp256k1_ec_seckey_verify(k256(), out.secret_.data()) == 1
        : p256::valid_secret(out.secret_);
  if (!good)
    return fail(ec::malformed, "secret is not in 1..n-1");
  return out;
}

signature private_key::sign(bytes_view message) const {
  const auto hash = sha256(message);
  if (which_ == curve::p256)
    return p256::sign(hash, secret_);
  signature out{};
  secp256k1_ecdsa_signature made;
  // Nonce of RFC 6979, low s. It cannot fail for a secret that was checked.
  if (secp256k1_ecdsa_sign(k256(), &made, hash.data(), secret_.data(), nullptr,
                           nullptr)
      == 1)
    secp256k1_ecdsa_signature_serialize_compact(k256(), out.data(), &made);
  return out;
}

public_key private_key::public_part() const {
  if (which_ == curve::p256)
    return *public_key::from_point(curve::p256, p256::multiply_base(secret_));
  secp256k1_pubkey key;
  std::array<uint8_t, compressed_size> point{};
  auto size = point.size();
  if (secp256k1_ec_pubkey_create(k256(), &key, secret_.data()) == 1)
    secp256k1_ec_pubkey_serialize(k256(), point.data(), &size, &key,
                                  SECP256K1_EC_COMPRESSED);
  return *public_key::from_point(curve::k256, point);
}

} // namespace weir::atproto
