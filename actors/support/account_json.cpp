#include "actors/support/account_json.hpp"

namespace weir::actors {

using storage::account_status;

account_status read_account_status(const boost::json::object& x) {
  const auto* active = x.if_contains("active");
  if (active == nullptr || !active->is_bool() || active->get_bool())
    return account_status::active;
  const auto* status = x.if_contains("status");
  const auto text = status != nullptr && status->is_string()
                      ? std::string_view{status->get_string()}
                      : std::string_view{};
  for (const auto known :
       {account_status::deactivated, account_status::suspended,
        account_status::takendown, account_status::deleted})
    if (text == storage::to_string(known))
      return known;
  return account_status::inactive;
}

std::optional<account_status> account_of_error(std::string_view name) noexcept {
  if (name == "RepoTakendown")
    return account_status::takendown;
  if (name == "RepoSuspended")
    return account_status::suspended;
  if (name == "RepoDeactivated")
    return account_status::deactivated;
  if (name == "RepoNotFound")
    return account_status::deleted;
  return std::nullopt;
}

} // namespace weir::actors
