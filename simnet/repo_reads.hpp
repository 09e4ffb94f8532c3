#pragma once

#include "net/http_server.hpp"
#include "simnet/site.hpp"
#include "simnet/sync_reads.hpp"

/// Answers of com.atproto.repo: records as JSON, for whoever compares.
namespace weir::simnet {

/// Account by DID or handle in parameter `repo`.
net::http_reply describe_repo(const net::incoming_request& request,
                              const site& where, const lens& look);

/// Newest record key first, unless `reverse=true`.
net::http_reply list_records(const net::incoming_request& request,
                             const site& where, const lens& look);

net::http_reply get_record(const net::incoming_request& request,
                           const site& where, const lens& look);

} // namespace weir::simnet
