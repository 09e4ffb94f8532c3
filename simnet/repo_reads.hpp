#pragma once

#include "net/http_server.hpp"
#include "simnet/site.hpp"
#include "simnet/sync_reads.hpp"

/// Answers of com.atproto.repo: records as JSON, for comparisons.
namespace weir::simnet {

/// Finds the account by the DID or handle in the parameter `repo`.
net::http_reply describe_repo(const net::incoming_request& request,
                              const site& where, const lens& look);

/// Newest record key first, unless `reverse=true`.
net::http_reply list_records(const net::incoming_request& request,
                             const site& where, const lens& look);

net::http_reply get_record(const net::incoming_request& request,
                           const site& where, const lens& look);

} // namespace weir::simnet
