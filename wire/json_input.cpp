#include "atproto/json_fields.hpp"
#include "wire/limits.hpp"
#include "wire/tap.hpp"

#include <boost/json.hpp>

/// Readers of short JSON texts from others. `repos_request_reader` reads bodies
/// that may be long.
namespace weir::wire {

result<account_fact> parse_account_fact(bytes_view text) {
  const auto object
    = atproto::parse_object(as_text(text), limits::json_depth_max, {});
  if (!object)
    return object.error();
  const auto* handle = object->if_contains("handle");
  const auto* active = object->if_contains("is_active");
  const auto* status = object->if_contains("status");
  if (handle == nullptr || !handle->is_string() || active == nullptr
      || !active->is_bool() || status == nullptr || !status->is_string())
    return fail(ec::malformed, "not the facts of an account");
  return account_fact{boost::json::value_to<std::string>(*handle),
                      active->get_bool(),
                      boost::json::value_to<std::string>(*status)};
}

} // namespace weir::wire
