#pragma once

#include "atproto/identifiers.hpp"
#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace weir::wire {

/// Which dead letters a request means.
struct letters_request {
  std::vector<uint64_t> ids; ///< Of events; in order, each once.
  bool all = false;
  std::optional<atproto::did> repo; ///< With `all`: only of this one.
  uint64_t after = 0;               ///< With `all`: behind this event.
};

/// Reads the body of `/v1/dead-letters/retry` and `/drop`: an object with one
/// of `ids` (a list of numbers), `did` (a text) and `all` (true), and with the
/// last two perhaps `cursor`.
///
/// # Errors
/// `ec::malformed` when the text is no JSON object, `ec::invalid_argument` for
/// a member that nobody reads, that is there twice or has another value than
/// these, `ec::limit_reached` above `limits::dead_letters_order_max` ids.
result<letters_request> parse_letters_request(std::string_view body);

} // namespace weir::wire
