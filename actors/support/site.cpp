#include "actors/support/site.hpp"

namespace weir::actors {

std::string_view last_two_labels(std::string_view name) noexcept {
  if (name.ends_with('.'))
    name.remove_suffix(1);
  const auto last = name.rfind('.');
  if (last == name.npos || last == 0)
    return name;
  const auto is_address
    = name.find_first_not_of("0123456789", last + 1) == name.npos;
  const auto before = name.rfind('.', last - 1);
  return is_address || before == name.npos ? name : name.substr(before + 1);
}

std::string site_of(std::string_view origin) {
  if (const auto scheme = origin.find("://"); scheme != origin.npos)
    origin.remove_prefix(scheme + 3);
  const auto name = origin.substr(0, origin.find(':'));
  const auto domain = last_two_labels(name);
  const auto is_name = domain.find_first_not_of("0123456789.") != domain.npos
                       && domain.find('.') != domain.npos;
  return std::string{is_name ? domain : origin};
}

} // namespace weir::actors
