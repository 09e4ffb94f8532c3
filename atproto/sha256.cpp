// These low-level calls are deprecated since OpenSSL 3.0, but only they need no
// provider look-up, do not allocate and cannot fail. For small blocks they are
// a fifth faster than a reused EVP context.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "atproto/sha256.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace weir::atproto {

digest sha256(bytes_view x) {
  digest out;
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, x.data(), x.size());
  SHA256_Final(out.data(), &state);
  return out;
}

bool same_secret(const digest& x, const digest& y) noexcept {
  return CRYPTO_memcmp(x.data(), y.data(), x.size()) == 0;
}

struct sha256_stream::impl {
  SHA256_CTX state;
};

sha256_stream::sha256_stream() : impl_(std::make_unique<impl>()) {
  SHA256_Init(&impl_->state);
}

sha256_stream::~sha256_stream() = default;

sha256_stream::sha256_stream(sha256_stream&&) noexcept = default;

sha256_stream& sha256_stream::operator=(sha256_stream&&) noexcept = default;

void sha256_stream::update(bytes_view x) {
  SHA256_Update(&impl_->state, x.data(), x.size());
}

digest sha256_stream::finish() {
  digest out;
  SHA256_Final(out.data(), &impl_->state);
  SHA256_Init(&impl_->state);
  return out;
}

} // namespace weir::atproto
