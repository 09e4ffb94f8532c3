#pragma once

#include "atproto/cid.hpp"

#include <memory>

namespace weir::atproto {

/// SHA-256 in one call. Never fails and allocates nothing; any thread.
/// (OpenSSL's own one-shot call takes 2.5 times as long for small blocks.)
digest sha256(bytes_view x);

/// Compares in constant time, so that the time does not show where they differ.
bool same_secret(const digest& x, const digest& y) noexcept;

/// SHA-256 of data that arrives in pieces. One thread.
class sha256_stream {
public:
  sha256_stream();
  ~sha256_stream();
  sha256_stream(sha256_stream&&) noexcept;
  sha256_stream& operator=(sha256_stream&&) noexcept;
  sha256_stream(const sha256_stream&) = delete;
  sha256_stream& operator=(const sha256_stream&) = delete;

  void update(bytes_view x);

  /// Ends the computation. The object can then be used for the next one.
  digest finish();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace weir::atproto
