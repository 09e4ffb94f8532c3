#pragma once

#include "actors/api/routes.hpp"
#include "base/byte_ledger.hpp"
#include "wire/repos_request_reader.hpp"

namespace weir::actors {

/// The body of a request, read while it arrives. Its memory is claimed in the
/// ledger as it comes, until the request is answered: a length that is only
/// announced costs nothing.
class claimed_body : public net::body_sink {
public:
  /// @param bytes_max Limit for the bodies of all requests together; one more
  /// byte is a 503 for the body that brings it.
  claimed_body(std::shared_ptr<byte_ledger> ledger, size_t bytes_max)
    : ledger_(std::move(ledger)), claim_(ledger_, memory_use::requests),
      bytes_max_(bytes_max) {}

protected:
  /// Returns nothing while there is room.
  std::optional<net::http_reply> claim(size_t bytes) {
    claim_.set(bytes);
    if (ledger_->held(memory_use::requests) <= bytes_max_)
      return std::nullopt;
    return net::error_reply(503, "Unavailable",
                            "the bodies of all requests together take too much "
                            "memory now; try again later");
  }

private:
  std::shared_ptr<byte_ledger> ledger_;
  byte_claim claim_;
  size_t bytes_max_;
};

/// The body of a request that names repos.
class repos_body final : public claimed_body {
public:
  /// @param members As for `repos_request_reader`.
  repos_body(std::shared_ptr<byte_ledger> ledger, size_t bytes_max,
             std::span<const wire::body_member> members)
    : claimed_body(std::move(ledger), bytes_max), reader_(members) {}

  std::optional<net::http_reply> put(bytes_view piece) override {
    reader_.put(as_text(piece));
    return claim(reader_.held_bytes());
  }

  result<wire::repos_request> finish() { return reader_.finish(); }

private:
  wire::repos_request_reader reader_;
};

/// The body of a small request, kept unchanged.
class text_body final : public claimed_body {
public:
  using claimed_body::claimed_body;

  std::optional<net::http_reply> put(bytes_view piece) override {
    text_ += as_text(piece);
    return claim(text_.capacity());
  }

  const std::string& text() const noexcept { return text_; }

private:
  std::string text_;
};

/// A body that no route reads.
class ignored_body final : public net::body_sink {
public:
  std::optional<net::http_reply> put(bytes_view) override { return {}; }
};

/// Makes the sink for the body of a route.
inline std::shared_ptr<net::body_sink>
make_body(const route& to, const std::shared_ptr<byte_ledger>& ledger,
          size_t bytes_max) {
  if (to.what == action::retry_letters || to.what == action::drop_letters
      || to.what == action::backup)
    return std::make_shared<text_body>(ledger, bytes_max);
  return std::make_shared<repos_body>(ledger, bytes_max, to.body);
}

} // namespace weir::actors
