#pragma once

#include "base/clock.hpp"
#include "net/http_server.hpp"
#include "simnet/directory_log.hpp"
#include "simnet/site.hpp"

namespace weir::simnet {

/// The directory of DIDs. It also resolves handles of `.test`, which exist
/// nowhere else: by XRPC, and by `/.well-known/atproto-did` with the handle in
/// the Host header.
///
/// # Ownership and threads
/// Borrows the site, which outlives it. Any thread.
class plc_service final : public net::http_service {
public:
  /// @param epoch When the first account entered the directory. Each further
  /// account entered a millisecond later.
  plc_service(const site& where, wall_time epoch)
    : site_(where), log_(where, epoch) {}

  void on_request(net::incoming_request request,
                  net::responder answer) override;

private:
  net::http_reply answer_to(const net::incoming_request& request) const;
  net::http_reply document(std::string_view did) const;
  net::http_reply document(const account_view& account) const;
  net::http_reply export_lines(const net::incoming_request& request) const;

  const site& site_;
  mutable directory_log log_;
};

} // namespace weir::simnet
