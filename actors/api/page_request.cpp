#include "actors/api/page_request.hpp"

#include "actors/api/limits.hpp"

#include <charconv>

namespace weir::actors {

namespace {

/// Takes the time and the colon after it from the front of a cursor.
bool take_due(std::string_view& text, uint64_t& due) {
  const auto* end = text.data() + text.size();
  const auto [at, bad] = std::from_chars(text.data(), end, due);
  if (bad != std::errc{} || at == end || *at != ':')
    return false;
  text.remove_prefix(static_cast<size_t>(at - text.data()) + 1);
  return true;
}

} // namespace

page_order order_of(action list) noexcept {
  switch (list) {
    case action::dead_letters:
      return page_order::id;
    case action::list_errors:
      return page_order::retry;
    default:
      return page_order::did;
  }
}

result<page_request> parse_page(const net::incoming_request& x,
                                page_order order) {
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
    std::string_view rest{*text};
    if (order == page_order::id) {
      const auto* end = rest.data() + rest.size();
      const auto [at, bad] = std::from_chars(rest.data(), end, out.after_id);
      if (bad != std::errc{} || at != end)
        return fail(ec::invalid_argument, "cursor is not one of ours");
      return out;
    }
    const bool timed
      = order == page_order::did || take_due(rest, out.after_due);
    auto after = atproto::did::parse(rest);
    if (!timed || !after)
      return fail(ec::invalid_argument, "cursor is not one of ours");
    out.after = std::move(*after);
  }
  return out;
}

std::string retry_cursor(uint64_t due, const atproto::did& last) {
  return std::to_string(due) + ':' + last.str();
}

} // namespace weir::actors
