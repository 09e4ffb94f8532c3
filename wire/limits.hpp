#pragma once

#include <cstddef>

/// Limits of `wire`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

/// Patterns of one collection filter.
constexpr size_t filter_patterns_max = 1'024;

/// DIDs in one request.
constexpr size_t request_dids_max = 50'000;

/// Bad DIDs that a refusal lists, and the bytes that it shows of each and of a
/// pattern.
constexpr size_t named_dids_max = 5;
constexpr size_t named_did_bytes_max = 100;
constexpr size_t named_pattern_bytes_max = 64;

/// Levels of nested JSON that clients may send.
constexpr size_t json_depth_max = 8;

/// Bytes of one message on `/channel`. An ack has about 30.
constexpr size_t channel_message_bytes_max = 4'096;

/// Dead letters that one request may read and decide on. Each costs several
/// reads of the log and of the present record, on a thread that others share.
constexpr size_t dead_letters_order_max = 256;

} // namespace weir::limits
