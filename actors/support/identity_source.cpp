#include "actors/support/identity_source.hpp"

#include "actors/support/site.hpp"

namespace weir::actors {

std::string identity_source(const atproto::did& repo) {
  constexpr std::string_view web = "did:web:";
  std::string_view name = repo.str();
  if (name.substr(0, web.size()) != web)
    return std::string{directory_source};
  name = name.substr(web.size(), name.find_first_of(":%", web.size())
                                   - web.size());
  return std::string{web} + std::string{last_two_labels(name)};
}

} // namespace weir::actors
