#include "actors/api/log_request.hpp"

#include "actors/api/page_request.hpp"
#include "base/parse_number.hpp"

#include <algorithm>
#include <array>

namespace weir::actors {

namespace {

error wrong(const char* sentence) {
  return fail(ec::invalid_argument, sentence);
}

/// What all three routes take.
template <class Request>
result<void> take_page(const net::incoming_request& x, Request& to) {
  const auto limit = parse_limit(x);
  if (!limit)
    return limit.error();
  to.limit = *limit;
  const auto content = parse_content(x);
  if (!content)
    return content.error();
  to.with_content = *content;
  return {};
}

result<std::string> take_scope(const net::incoming_request& x) {
  const auto* text = x.parameter("collection");
  return text == nullptr ? std::string{} : parse_scope(*text);
}

result<void> take_path(const std::string& cursor, records_request& to) {
  if (!atproto::valid_repo_path(cursor))
    return wrong("cursor is not one of ours");
  const auto parts = atproto::split_path(cursor);
  to.after_collection = parts.collection;
  to.after_rkey = parts.rkey;
  if (!to.collection.empty() && to.collection != to.after_collection)
    return wrong("cursor is of another collection");
  return {};
}

} // namespace

result<std::string> parse_scope(const std::string& text) {
  constexpr std::array<std::string_view, 3> own{"$commit", "$identity",
                                                "$account"};
  if (std::ranges::find(own, text) == own.end() && !atproto::valid_nsid(text))
    return wrong("collection must be an NSID, $commit, $identity or $account");
  return text;
}

result<uint64_t> parse_index(const std::string& text) {
  const auto out = parse_number<uint64_t>(text);
  return out ? result<uint64_t>{*out}
             : wrong("an index must be a number, counted from 0");
}

result<bool> parse_content(const net::incoming_request& x) {
  const auto* text = x.parameter("content");
  if (text == nullptr || *text == "true")
    return true;
  if (*text == "false")
    return false;
  return wrong("content must be true or false");
}

result<log_request> parse_log_request(const net::incoming_request& x) {
  log_request out;
  if (auto ok = take_page(x, out); !ok)
    return ok.error();
  auto scope = take_scope(x);
  if (!scope)
    return scope.error();
  out.scope = std::move(*scope);
  if (const auto* text = x.parameter("did")) {
    auto repo = atproto::did::parse(*text);
    if (!repo)
      return repo.error();
    out.repo = std::move(*repo);
  }
  if (const auto* text = x.parameter("since")) {
    auto since = wire::parse_log_position(*text);
    if (!since)
      return since.error();
    out.since = std::move(*since);
  }
  return out;
}

result<stream_request> parse_stream_request(const net::incoming_request& x) {
  stream_request out;
  if (auto ok = take_page(x, out); !ok)
    return ok.error();
  auto scope = take_scope(x);
  if (!scope)
    return scope.error();
  if (scope->empty())
    return wrong("collection must be given");
  out.scope = std::move(*scope);
  if (const auto* text = x.parameter("since")) {
    const auto index = parse_index(*text);
    if (!index)
      return index.error();
    out.since = *index;
  }
  if (const auto* text = x.parameter("since_ms")) {
    out.since_ms = parse_number<int64_t>(*text);
    if (!out.since_ms)
      return wrong("since_ms must be a time in milliseconds since 1970");
  }
  return out;
}

result<records_request> parse_records_request(const net::incoming_request& x) {
  records_request out;
  if (auto ok = take_page(x, out); !ok)
    return ok.error();
  if (const auto* text = x.parameter("collection")) {
    if (!atproto::valid_nsid(*text))
      return wrong("collection must be an NSID");
    out.collection = *text;
  }
  if (const auto* text = x.parameter("cursor"))
    if (auto ok = take_path(*text, out); !ok)
      return ok.error();
  return out;
}

} // namespace weir::actors
