#include "wire/limits.hpp"
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

} // namespace weir::wire
