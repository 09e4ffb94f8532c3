#include "actors/api/request_body.hpp"

namespace weir::actors {

repos_body::repos_body(std::shared_ptr<byte_ledger> ledger, size_t bytes_max,
                       bool with_collections)
  : ledger_(std::move(ledger)), claim_(ledger_, memory_use::requests),
    bytes_max_(bytes_max), reader_(with_collections) {
  // nop
}

std::optional<net::http_reply> repos_body::put(bytes_view piece) {
  reader_.put(as_text(piece));
  claim_.set(reader_.held_bytes());
  if (ledger_->held(memory_use::requests) > bytes_max_)
    return net::error_reply(503, "TooManyRequests",
                            "the bodies of all requests are too large now");
  return std::nullopt;
}

} // namespace weir::actors
