#pragma once

#include <cstddef>

/// Bounds that `wire` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

/// Patterns of one collection filter.
constexpr size_t filter_patterns_max = 1'024;

/// DIDs named in one request.
constexpr size_t request_dids_max = 50'000;

/// Bad DIDs that a refusal names, the bytes it shows of each, and of a pattern.
constexpr size_t named_dids_max = 5;
constexpr size_t named_did_bytes_max = 100;
constexpr size_t named_pattern_bytes_max = 64;

/// Nesting of JSON that clients send.
constexpr size_t json_depth_max = 8;

/// One message of a client on `/channel`: an ack has about 30 bytes.
constexpr size_t channel_message_bytes_max = 4'096;

/// Dead letters that one request reads and decides on: each costs some reads of the
/// log and of the record that is there now, on a thread that others wait for.
constexpr size_t dead_letters_order_max = 256;

} // namespace weir::limits
