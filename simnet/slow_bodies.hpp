#pragma once

#include "net/http_server.hpp"

#include <atomic>
#include <memory>

/// Downloads that take a long time (net::reply_rest).
namespace weir::simnet {

/// Sends `body` at a limited rate, in pieces for a tenth of a second.
/// @pre `bytes_per_second > 0`
std::shared_ptr<net::reply_rest> at_rate(shared_bytes body,
                                         uint64_t bytes_per_second);

/// Valid sections of a CAR with correct CIDs, to which nothing links.
/// @param bytes_per_second 0 for no limit.
/// @param size Total bytes; without it there is no end and no stated size.
/// @param sent Counts the bytes and outlives the body; may be null.
std::shared_ptr<net::reply_rest> unlinked_blocks(uint64_t bytes_per_second,
                                                 std::optional<uint64_t> size,
                                                 std::atomic<uint64_t>* sent);

} // namespace weir::simnet
