#pragma once

#include "net/http_server.hpp"
#include "simnet/site.hpp"
#include "simnet/sync_reads.hpp"

namespace weir::simnet {

/// The relay: one stream of the events of all hosts, and lists of repositories
/// and hosts. It redirects requests for a repository to its host.
///
/// # Ownership and threads
/// Borrows the site, which outlives it. Any thread.
class relay_service final : public net::http_service {
public:
  /// @pre the network has a relay
  explicit relay_service(const site& where);

  void on_request(net::incoming_request request,
                  net::responder answer) override;
  void on_upgrade(net::incoming_request request, net::upgrader answer) override;

private:
  net::http_reply read(const net::incoming_request& request) const;
  net::http_reply read_account(const net::incoming_request& request,
                               std::string_view method) const;
  net::http_reply list_hosts(const net::incoming_request& request) const;
  net::http_reply host_status(const net::incoming_request& request) const;

  const site& site_;
  const lens look_;
};

} // namespace weir::simnet
