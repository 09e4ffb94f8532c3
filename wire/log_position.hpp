#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::wire {

/// A place in the log of a node, between two operations of each partition.
/// Applications keep it as a text and do not look inside.
struct log_position {
  /// Name of the log and its epoch, as `event_numbers::name_of` gives it.
  /// Places of a log with another name mean nothing here.
  std::string log;
  /// The last operation before the place, one for each partition; 0: none.
  std::vector<uint64_t> places;

  bool operator==(const log_position&) const = default;
};

/// Such as `0123456789abcdef.1-17.42`. It needs no escapes in a URL.
std::string to_text(const log_position& x);

/// Reads what `to_text` writes, and nothing else.
/// @returns `ec::malformed` otherwise.
result<log_position> parse_log_position(std::string_view text);

} // namespace weir::wire
