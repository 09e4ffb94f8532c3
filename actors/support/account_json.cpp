#include "actors/support/account_json.hpp"

#include "actors/support/state_words.hpp"

#include <boost/json.hpp>

namespace weir::actors {

storage::account_status read_account_status(const boost::json::object& x) {
  const auto* active = x.if_contains("active");
  if (active == nullptr || !active->is_bool() || active->get_bool())
    return storage::account_status::active;
  return inactive_status(text_of(x, "status"));
}

std::optional<storage::account_status>
account_of_error(std::string_view name) noexcept {
  using enum storage::account_status;
  if (name == "RepoTakendown")
    return takendown;
  if (name == "RepoSuspended")
    return suspended;
  if (name == "RepoDeactivated")
    return deactivated;
  if (name == "RepoNotFound")
    return deleted;
  return std::nullopt;
}

std::string_view text_of(const boost::json::object& from,
                         std::string_view key) {
  const auto* x = from.if_contains(key);
  return x != nullptr && x->is_string() ? std::string_view{x->get_string()}
                                        : std::string_view{};
}

std::optional<boost::json::object> parse_object(std::string_view body) {
  boost::system::error_code bad;
  auto x = boost::json::parse(body, bad);
  if (bad || !x.is_object())
    return std::nullopt;
  return std::move(x.get_object());
}

} // namespace weir::actors
