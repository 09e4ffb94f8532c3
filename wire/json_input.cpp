#include "wire/filter.hpp"
#include "wire/limits.hpp"
#include "wire/repos_api.hpp"
#include "wire/tap.hpp"

#include <boost/json.hpp>

/// Readers of short JSON texts from others. `repos_request_reader` reads bodies
/// that may be long.
namespace weir::wire {

namespace {

namespace json = boost::json;

/// Parses a text that is one object.
result<json::object> parse_object(std::string_view text) {
  json::parse_options options;
  options.max_depth = limits::json_depth_max;
  json::error_code failed;
  auto value = json::parse(json::string_view{text.data(), text.size()}, failed,
                           {}, options);
  if (failed)
    return fail(ec::malformed, "no valid JSON: " + failed.message());
  auto* object = value.if_object();
  if (object == nullptr)
    return fail(ec::malformed, "no JSON object");
  return std::move(*object);
}

error not_strings(std::string_view key) {
  return fail(ec::invalid_argument,
              "\"" + std::string{key} + "\" must be a list of texts");
}

/// The texts of a list, or nothing when the key is absent.
result<std::optional<std::vector<std::string>>> strings(const json::object& in,
                                                        std::string_view key) {
  const auto* value = in.if_contains({key.data(), key.size()});
  if (value == nullptr)
    return std::nullopt;
  const auto* list = value->if_array();
  if (list == nullptr)
    return not_strings(key);
  std::vector<std::string> out;
  out.reserve(list->size());
  for (const auto& x : *list) {
    const auto* text = x.if_string();
    if (text == nullptr)
      return not_strings(key);
    out.emplace_back(text->data(), text->size());
  }
  return std::optional{std::move(out)};
}

result<std::optional<std::vector<std::string>>>
patterns(const json::object& in) {
  auto list = strings(in, "collections");
  if (!list || !*list)
    return list;
  auto filter = collection_filter::parse(std::move(**list));
  if (!filter)
    return filter.error();
  return std::optional{filter->patterns()};
}

result<void> read_mode(const json::value& in, config_change& out) {
  if (const auto* text = in.if_string())
    out.mode = parse_sync_mode({text->data(), text->size()});
  if (!out.mode)
    return fail(ec::invalid_argument,
                R"("mode" must be "manual", "signal" or "full-network")");
  return {};
}

result<void> read_signal(const json::value& in, config_change& out) {
  if (in.is_null()) {
    out.signal_collection.emplace();
    return {};
  }
  const auto* text = in.if_string();
  if (text == nullptr
      || (!text->empty() && !atproto::valid_nsid({text->data(), text->size()})))
    return fail(ec::invalid_argument,
                R"("signal_collection" must name one collection, or be null)");
  out.signal_collection.emplace(text->data(), text->size());
  return {};
}

} // namespace

result<account_fact> parse_account_fact(bytes_view text) {
  const auto object = parse_object(as_text(text));
  if (!object)
    return object.error();
  const auto* handle = object->if_contains("handle");
  const auto* active = object->if_contains("is_active");
  const auto* status = object->if_contains("status");
  if (handle == nullptr || !handle->is_string() || active == nullptr
      || !active->is_bool() || status == nullptr || !status->is_string())
    return fail(ec::malformed, "not the facts of an account");
  return account_fact{json::value_to<std::string>(*handle), active->get_bool(),
                      json::value_to<std::string>(*status)};
}

result<config_change> parse_config_change(std::string_view body) {
  const auto object = parse_object(body);
  if (!object)
    return object.error();
  config_change out;
  for (const auto& x : *object) {
    result<void> ok;
    if (x.key() == "mode")
      ok = read_mode(x.value(), out);
    else if (x.key() == "signal_collection")
      ok = read_signal(x.value(), out);
    else if (x.key() != "collections")
      ok = fail(ec::invalid_argument,
                "unknown key \"" + std::string{x.key()}.substr(0, 64) + "\"");
    if (!ok)
      return ok.error();
  }
  auto filter = patterns(*object);
  if (!filter)
    return filter.error();
  out.collections = std::move(*filter);
  return out;
}

} // namespace weir::wire
