#include "atproto/json_fields.hpp"

#include <boost/json.hpp>

namespace weir::atproto {

std::string_view text_at(const boost::json::object& x, std::string_view name) {
  const auto* value = x.if_contains(name);
  const auto* text = value ? value->if_string() : nullptr;
  return text ? std::string_view{*text} : std::string_view{};
}

bool truth_at(const boost::json::object& x, std::string_view name,
              bool when_absent) {
  const auto* value = x.if_contains(name);
  return value && value->is_bool() ? value->get_bool() : when_absent;
}

const boost::json::object* object_at(const boost::json::object& x,
                                     std::string_view name) {
  const auto* value = x.if_contains(name);
  return value ? value->if_object() : nullptr;
}

const boost::json::array* array_at(const boost::json::object& x,
                                   std::string_view name) {
  const auto* value = x.if_contains(name);
  return value ? value->if_array() : nullptr;
}

result<boost::json::object> parse_object(std::string_view text) {
  return parse_object(text, boost::json::parse_options{}.max_depth, {});
}

result<boost::json::object> parse_object(std::string_view text,
                                         size_t depth_max,
                                         boost::json::storage_ptr memory) {
  boost::json::parse_options options;
  options.max_depth = depth_max;
  boost::json::error_code bad;
  auto value = boost::json::parse(text, bad, std::move(memory), options);
  if (bad)
    return fail(ec::malformed, "no valid JSON: " + bad.message());
  if (!value.is_object())
    return fail(ec::malformed, "no JSON object");
  return std::move(value.get_object());
}

} // namespace weir::atproto
