#pragma once

#include "net/http_server.hpp"
#include "simnet/faults.hpp"
#include "simnet/hostile_hosts.hpp"
#include "simnet/pacer.hpp"
#include "simnet/traffic.hpp"
#include "simnet/world.hpp"

#include <memory>
#include <string_view>

namespace weir::simnet {

/// Controls the network over HTTP, for tests of an engine from outside.
///
///   GET  /truth?cursor=N&limit=N   expected accounts, paged
///   GET  /truth?did=DID            one account
///   GET  /stats                    counts: traffic, faults and how often each
///                                  was served, hostile hosts, streams
///   GET  /ledger                   every fault that was injected
///   POST /fault    an object of simnet/fault_json.hpp
///   POST /traffic  {"rate": events per second}
///   POST /commits  {"count": N, "did"?}   made before the answer comes
///   POST /accounts {"count": N}    new accounts
///
/// # Ownership and threads
/// Borrows everything; the network outlives its servers. Any thread.
class control_service final : public net::http_service {
public:
  control_service(world& where, traffic& life, faults& trouble,
                  const request_faults& requests, const hostile_hosts& enemies);

  /// Sets what keeps the rate of live traffic. Call it before the server
  /// starts.
  void set_pacer(std::shared_ptr<pacer> x) { pacer_ = std::move(x); }

  void on_request(net::incoming_request request,
                  net::responder answer) override;

private:
  net::http_reply read(const net::incoming_request& request);
  net::http_reply write(const net::incoming_request& request);
  net::http_reply make(std::string_view path, std::string_view did,
                       size_t count);
  net::http_reply truth_page(const net::incoming_request& request);
  net::http_reply stats();
  net::http_reply ledger();

  world& world_;
  traffic& traffic_;
  faults& faults_;
  const request_faults& requests_;
  const hostile_hosts& enemies_;
  std::shared_ptr<pacer> pacer_;
};

} // namespace weir::simnet
