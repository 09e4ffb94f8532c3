#pragma once

#include "actors/api/routes.hpp"
#include "base/byte_ledger.hpp"
#include "net/http_server.hpp"
#include "wire/repos_request_reader.hpp"

namespace weir::actors {

/// The body of a request that names repos, read while it arrives. Its memory is
/// claimed in the ledger as it comes, until the request is answered: a length
/// that is only announced costs nothing.
class repos_body final : public net::body_sink {
public:
  /// @param bytes_max Limit for the bodies of all requests together; one more
  /// byte is a 503 for the body that brings it.
  /// @param members As for `repos_request_reader`.
  repos_body(std::shared_ptr<byte_ledger> ledger, size_t bytes_max,
             std::span<const wire::body_member> members);

  std::optional<net::http_reply> put(bytes_view piece) override;

  result<wire::repos_request> finish() { return reader_.finish(); }

private:
  std::shared_ptr<byte_ledger> ledger_;
  byte_claim claim_;
  size_t bytes_max_;
  wire::repos_request_reader reader_;
};

/// The body of a small request, kept unchanged and claimed in the ledger as it
/// comes.
class text_body final : public net::body_sink {
public:
  /// @param bytes_max As for `repos_body`.
  text_body(std::shared_ptr<byte_ledger> ledger, size_t bytes_max)
    : ledger_(std::move(ledger)), claim_(ledger_, memory_use::requests),
      bytes_max_(bytes_max) {}

  std::optional<net::http_reply> put(bytes_view piece) override;

  const std::string& text() const noexcept { return text_; }

private:
  std::shared_ptr<byte_ledger> ledger_;
  byte_claim claim_;
  size_t bytes_max_;
  std::string text_;
};

/// A body that no route reads.
class ignored_body final : public net::body_sink {
public:
  std::optional<net::http_reply> put(bytes_view) override { return {}; }
};

/// Makes the sink for the body of a route.
std::shared_ptr<net::body_sink>
make_body(const route& to, const std::shared_ptr<byte_ledger>& ledger,
          size_t bytes_max);

} // namespace weir::actors
