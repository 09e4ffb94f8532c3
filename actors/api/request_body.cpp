#include "actors/api/request_body.hpp"

namespace weir::actors {

namespace {

/// Returns nothing while there is room.
std::optional<net::http_reply> refusal(const byte_ledger& ledger,
                                       size_t bytes_max) {
  if (ledger.held(memory_use::requests) <= bytes_max)
    return std::nullopt;
  return net::error_reply(503, "Unavailable",
                          "the bodies of all requests together take too much "
                          "memory now; try again later");
}

} // namespace

repos_body::repos_body(std::shared_ptr<byte_ledger> ledger, size_t bytes_max,
                       std::span<const wire::body_member> members)
  : ledger_(std::move(ledger)), claim_(ledger_, memory_use::requests),
    bytes_max_(bytes_max), reader_(members) {}

std::optional<net::http_reply> repos_body::put(bytes_view piece) {
  reader_.put(as_text(piece));
  claim_.set(reader_.held_bytes());
  return refusal(*ledger_, bytes_max_);
}

std::optional<net::http_reply> text_body::put(bytes_view piece) {
  text_ += as_text(piece);
  claim_.set(text_.capacity());
  return refusal(*ledger_, bytes_max_);
}

std::shared_ptr<net::body_sink>
make_body(const route& to, const std::shared_ptr<byte_ledger>& ledger,
          size_t bytes_max) {
  if (to.what == action::retry_letters || to.what == action::drop_letters)
    return std::make_shared<text_body>(ledger, bytes_max);
  return std::make_shared<repos_body>(ledger, bytes_max, to.body);
}

} // namespace weir::actors
