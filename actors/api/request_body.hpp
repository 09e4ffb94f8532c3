#pragma once

#include "actors/api/routes.hpp"
#include "base/byte_ledger.hpp"
#include "net/http_server.hpp"
#include "wire/repos_request_reader.hpp"

namespace weir::actors {

/// The body of a request that names repos, read while it arrives. What it keeps
/// is claimed in the ledger as it comes, until the request is answered: a
/// length that is only announced costs nothing.
class repos_body final : public net::body_sink {
public:
  /// @param bytes_max What the bodies of all requests may keep together; one
  /// more byte is a 503 for the body that brings it.
  /// @param members As of `repos_request_reader`.
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

/// The body of a small request, kept as it is and claimed in the ledger as it comes.
class text_body final : public net::body_sink {
public:
  /// @param bytes_max As of `repos_body`.
  text_body(std::shared_ptr<byte_ledger> ledger, size_t bytes_max)
    : ledger_(std::move(ledger)), claim_(ledger_, memory_use::requests),
      bytes_max_(bytes_max) {
    // nop
  }

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

/// Where the body of a route that takes one goes.
std::shared_ptr<net::body_sink>
make_body(const route& to, const std::shared_ptr<byte_ledger>& ledger,
          size_t bytes_max);

} // namespace weir::actors
