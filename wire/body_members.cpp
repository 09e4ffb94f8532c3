#include "wire/body_members.hpp"

#include "base/nearest.hpp"

#include <vector>

namespace weir::wire {

std::string_view to_string(member_need x) noexcept {
  switch (x) {
    case member_need::required:
      return "required";
    case member_need::optional:
      return "optional";
    case member_need::one_of:
      return "one of these";
  }
  return {};
}

std::string unknown_member(std::string_view name,
                           std::span<const body_member> known) {
  std::vector<std::string> names;
  for (const auto& x : known)
    names.emplace_back(x.name);
  return "there is no member \"" + std::string{name} + "\" here"
         + nearest_or_all(name, names);
}

} // namespace weir::wire
