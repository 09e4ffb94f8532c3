#pragma once

#include "atproto/identifiers.hpp"
#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace weir::wire {

/// Which dead letters a request is about.
struct letters_request {
  std::vector<uint64_t> ids; ///< Ids of events, sorted and without duplicates.
  bool all = false;
  std::optional<atproto::did> repo; ///< With `all`: only those of this repo.
  uint64_t after = 0; ///< With `all`: only those after this event.
};

/// Reads the body of `/v1/dead-letters/retry` and `/drop`. It is an object with
/// one of `ids` (a list of numbers), `did` (a text) and `all` (true). The last
/// two may come with `cursor`.
///
/// # Errors
/// `ec::malformed` when the text is no JSON object; `ec::invalid_argument` for
/// a member that is unknown, repeated or of the wrong type, and for a `did` of
/// no kind that is followed; `ec::limit_reached` above
/// `limits::dead_letters_order_max` ids.
result<letters_request> parse_letters_request(std::string_view body);

} // namespace weir::wire
