#include "atproto/p256.hpp"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/obj_mac.h>
#include <openssl/params.h>

#include <algorithm>

namespace weir::atproto::p256 {

namespace {

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* x) const noexcept {
    Free(x);
  }
};

using key_context_ptr
  = std::unique_ptr<EVP_PKEY_CTX, freed_by<EVP_PKEY_CTX_free>>;
using number_ptr = std::unique_ptr<BIGNUM, freed_by<BN_clear_free>>;
using number_context_ptr = std::unique_ptr<BN_CTX, freed_by<BN_CTX_free>>;
using point_ptr = std::unique_ptr<EC_POINT, freed_by<EC_POINT_free>>;

/// (n - 1) / 2, the largest s that atproto accepts (protocol-coverage.md 7).
constexpr scalar low_s_max{0x7f, 0xff, 0xff, 0xff, 0x80, 0x00, 0x00, 0x00,
                           0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                           0xde, 0x73, 0x7d, 0x56, 0xd3, 0x8b, 0xcf, 0x42,
                           0x79, 0xdc, 0xe5, 0x61, 0x7e, 0x31, 0x92, 0xa8};

/// The largest DER form of a signature: two integers of at most 33 bytes.
constexpr size_t der_size_max = 2 + 2 * (2 + 33);

/// Writes a DER INTEGER. It has no leading zero except one that keeps it
/// positive.
uint8_t* put_integer(bytes_view x, uint8_t* out) noexcept {
  while (x.size() > 1 && x.front() == 0)
    x = x.subspan(1);
  const bool pad = x.front() >= 0x80;
  *out++ = 0x02;
  *out++ = static_cast<uint8_t>(x.size() + (pad ? 1 : 0));
  if (pad)
    *out++ = 0;
  return std::copy(x.begin(), x.end(), out);
}

/// Writes r || s in DER. @returns its size.
size_t to_der(bytes_view sig, std::array<uint8_t, der_size_max>& out) noexcept {
  auto* end = put_integer(sig.first(32), out.data() + 2);
  end = put_integer(sig.last(32), end);
  const auto size = static_cast<size_t>(end - out.data());
  out[0] = 0x30;
  out[1] = static_cast<uint8_t>(size - 2);
  return size;
}

// -- numbers, for signing -----------------------------------------------------

/// Arithmetic modulo the order of the curve.
class field {
public:
  const EC_GROUP* group() const noexcept { return group_.get(); }

  const BIGNUM* order() const noexcept { return EC_GROUP_get0_order(group()); }

  BN_CTX* context() const noexcept { return context_.get(); }

  number_ptr number() const { return number_ptr{BN_new()}; }

  number_ptr read(bytes_view x) const {
    return number_ptr{BN_bin2bn(x.data(), static_cast<int>(x.size()), nullptr)};
  }

  bool in_range(const BIGNUM* x) const noexcept {
    return !BN_is_zero(x) && BN_cmp(x, order()) < 0;
  }

private:
  std::unique_ptr<EC_GROUP, freed_by<EC_GROUP_free>> group_{
    EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)};
  number_context_ptr context_{BN_CTX_new()};
};

/// The generator multiplied by `k`.
point_ptr times_generator(const field& f, const BIGNUM* k) {
  point_ptr out{EC_POINT_new(f.group())};
  EC_POINT_mul(f.group(), out.get(), k, nullptr, nullptr, f.context());
  return out;
}

/// The sequence of candidate nonces of RFC 6979, section 3.2.
class nonce_source {
public:
  nonce_source(const digest& reduced_hash, const scalar& secret) {
    key_.fill(0);
    value_.fill(1);
    bytes seed(secret.begin(), secret.end());
    seed.insert(seed.end(), reduced_hash.begin(), reduced_hash.end());
    rekey(0, seed);
    rekey(1, seed);
  }

  const scalar& next() {
    if (!first_)
      rekey(0, {});
    first_ = false;
    value_ = mac(value_);
    return value_;
  }

private:
  scalar mac(bytes_view x) const {
    scalar out;
    unsigned size = out.size();
    HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()), x.data(),
         x.size(), out.data(), &size);
    return out;
  }

  void rekey(uint8_t separator, bytes_view seed) {
    bytes x(value_.begin(), value_.end());
    x.push_back(separator);
    x.insert(x.end(), seed.begin(), seed.end());
    key_ = mac(x);
    value_ = mac(value_);
  }

  scalar key_;
  scalar value_;
  bool first_ = true;
};

} // namespace

// -- checking -----------------------------------------------------------------

public_point public_point::parse(bytes_view x) {
  key_context_ptr context{EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr)};
  char group[] = "prime256v1";
  bytes point(x.begin(), x.end());
  const std::array<OSSL_PARAM, 3> params{
    OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
    OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                      point.size()),
    OSSL_PARAM_construct_end()};
  EVP_PKEY* key = nullptr;
  // Decoding checks that the point lies on the curve.
  const bool good
    = context && EVP_PKEY_fromdata_init(context.get()) == 1
      && EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY,
                           const_cast<OSSL_PARAM*>(params.data()))
           == 1;
  public_point out;
  if (good)
    out.key_ = {key, freed_by<EVP_PKEY_free>{}};
  else
    ERR_clear_error(); // Leave no error in this thread's queue.
  return out;
}

bool public_point::verify(const digest& hash, bytes_view sig) const {
  const auto s = sig.last(32);
  if (std::lexicographical_compare(low_s_max.begin(), low_s_max.end(),
                                   s.begin(), s.end()))
    return false;
  std::array<uint8_t, der_size_max> der;
  const auto size = to_der(sig, der);
  key_context_ptr context{
    EVP_PKEY_CTX_new(static_cast<EVP_PKEY*>(key_.get()), nullptr)};
  // OpenSSL refuses r and s outside 1..n-1.
  const bool good = context && EVP_PKEY_verify_init(context.get()) == 1
                    && EVP_PKEY_verify(context.get(), der.data(), size,
                                       hash.data(), hash.size())
                         == 1;
  if (!good)
    ERR_clear_error();
  return good;
}

// -- signing ------------------------------------------------------------------

bool valid_secret(const scalar& secret) {
  const field f;
  return f.in_range(f.read(secret).get());
}

std::array<uint8_t, 64> sign(const digest& hash, const scalar& secret) {
  thread_local const field f; // Making one takes as long as signing.
  const auto d = f.read(secret);
  auto z = f.read(hash);
  BN_nnmod(z.get(), z.get(), f.order(), f.context());
  digest reduced;
  BN_bn2binpad(z.get(), reduced.data(), static_cast<int>(reduced.size()));
  nonce_source nonces{reduced, secret};
  const auto r = f.number();
  const auto s = f.number();
  do { // Repeats about once in 2^32 signatures.
    const auto k = f.read(nonces.next());
    if (!f.in_range(k.get()))
      continue;
    const auto point = times_generator(f, k.get());
    EC_POINT_get_affine_coordinates(f.group(), point.get(), r.get(), nullptr,
                                    f.context());
    BN_nnmod(r.get(), r.get(), f.order(), f.context());
    // s = (z + r d) / k
    BN_mod_mul(s.get(), r.get(), d.get(), f.order(), f.context());
    BN_mod_add(s.get(), s.get(), z.get(), f.order(), f.context());
    BN_mod_inverse(k.get(), k.get(), f.order(), f.context());
    BN_mod_mul(s.get(), s.get(), k.get(), f.order(), f.context());
  } while (BN_is_zero(r.get()) || BN_is_zero(s.get()));
  if (BN_cmp(s.get(), f.read(low_s_max).get()) > 0)
    BN_sub(s.get(), f.order(), s.get());
  std::array<uint8_t, 64> out{};
  BN_bn2binpad(r.get(), out.data(), 32);
  BN_bn2binpad(s.get(), out.data() + 32, 32);
  return out;
}

std::array<uint8_t, 33> multiply_base(const scalar& secret) {
  const field f;
  const auto point = times_generator(f, f.read(secret).get());
  std::array<uint8_t, 33> out{};
  EC_POINT_point2oct(f.group(), point.get(), POINT_CONVERSION_COMPRESSED,
                     out.data(), out.size(), f.context());
  return out;
}

} // namespace weir::atproto::p256
