#pragma once

#include "net/http_server.hpp"
#include "simnet/faults.hpp"
#include "simnet/hostile_hosts.hpp"
#include "simnet/pacer.hpp"
#include "simnet/traffic.hpp"
#include "simnet/world.hpp"

#include <memory>

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
/// Borrows everything; the network outlives its servers. Any thread.
/// @param pace Set before the server starts.
std::shared_ptr<net::http_service> make_control_service(
  world& where, traffic& life, faults& trouble, const request_faults& requests,
  const hostile_hosts& enemies, const std::shared_ptr<pacer>& pace);

} // namespace weir::simnet
