#include "actors/api/page_request.hpp"

#include "base/parse_number.hpp"

namespace weir::actors {

namespace {

/// Takes the time and the colon after it from the front of a cursor.
bool take_due(std::string_view& text, uint64_t& due) {
  const auto colon = text.find(':');
  const auto number = parse_number<uint64_t>(text.substr(0, colon));
  if (!number || colon == text.npos)
    return false;
  due = *number;
  text.remove_prefix(colon + 1);
  return true;
}

} // namespace

result<size_t> parse_limit(const net::incoming_request& x) {
  const auto* text = x.parameter("limit");
  if (text == nullptr)
    return limits::api_page_default;
  const auto out = parse_number<size_t>(*text);
  if (!out || *out == 0 || *out > limits::api_page_max)
    return fail(ec::invalid_argument,
                "limit must be 1 to " + std::to_string(limits::api_page_max));
  return *out;
}

result<page_request> parse_page(const net::incoming_request& x,
                                page_order order) {
  page_request out;
  const auto limit = parse_limit(x);
  if (!limit)
    return limit.error();
  out.limit = *limit;
  const auto* cursor = x.parameter("cursor");
  if (cursor == nullptr)
    return out;
  std::string_view rest{*cursor};
  const auto id = order == page_order::id ? parse_number<uint64_t>(rest)
                                          : std::optional<uint64_t>{};
  if (id) {
    out.after_id = *id;
    return out;
  }
  auto after = atproto::did::parse(
    order == page_order::retry && !take_due(rest, out.after_due) ? "" : rest);
  if (order == page_order::id || !after)
    return fail(ec::invalid_argument, "cursor is not one of ours");
  out.after = std::move(*after);
  return out;
}

std::string retry_cursor(uint64_t due, const atproto::did& last) {
  return std::to_string(due) + ':' + last.str();
}

} // namespace weir::actors
