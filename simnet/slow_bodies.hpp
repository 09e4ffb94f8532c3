#pragma once

#include "net/http_server.hpp"

#include <atomic>
#include <memory>

/// Downloads that take their time (net::reply_rest).
namespace weir::simnet {

/// `body` at a rate, in pieces of a tenth of a second.
/// @pre `bytes_per_second > 0`
std::shared_ptr<net::reply_rest> at_rate(shared_bytes body,
                                         uint64_t bytes_per_second);

/// Sections of a CAR, whole and with true CIDs, that nothing links to.
/// @param bytes_per_second 0: as fast as they are taken.
/// @param size How many bytes; none: without end, and never said.
/// @param sent Counts the bytes, and outlives the body; may be null.
std::shared_ptr<net::reply_rest> unlinked_blocks(uint64_t bytes_per_second,
                                                 std::optional<uint64_t> size,
                                                 std::atomic<uint64_t>* sent);

} // namespace weir::simnet
