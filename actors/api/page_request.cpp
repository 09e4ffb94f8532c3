#include "actors/api/page_request.hpp"

#include <charconv>

namespace weir::actors {

result<page_request> parse_page(const net::incoming_request& x) {
  page_request out;
  if (const auto* text = x.parameter("limit"); text != nullptr) {
    const auto* end = text->data() + text->size();
    const auto [at, bad] = std::from_chars(text->data(), end, out.limit);
    if (bad != std::errc{} || at != end || out.limit == 0
        || out.limit > limits::api_page_max)
      return fail(ec::invalid_argument,
                  "limit must be 1 to " + std::to_string(limits::api_page_max));
  }
  if (const auto* text = x.parameter("cursor"); text != nullptr) {
    auto after = atproto::did::parse(*text);
    if (!after)
      return fail(ec::invalid_argument, "cursor is not one of ours");
    out.after = std::move(*after);
  }
  return out;
}

} // namespace weir::actors
