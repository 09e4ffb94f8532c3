#pragma once

#include "atproto/identifiers.hpp"

#include <string>
#include <string_view>

namespace weir::actors {

/// The last two labels of a host name, because the owner of a domain has all
/// names below it. Names below a suffix like co.uk count as one, too. An
/// address is returned as it is.
inline std::string_view last_two_labels(std::string_view name) noexcept {
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

/// The owner of an origin's host: equal for all hosts of one domain, whatever
/// their ports. An address or a single label is a site of its own, with its
/// port.
inline std::string site_of(std::string_view origin) {
  if (const auto scheme = origin.find("://"); scheme != origin.npos)
    origin.remove_prefix(scheme + 3);
  const auto name = origin.substr(0, origin.find(':'));
  const auto domain = last_two_labels(name);
  const auto is_name = domain.find_first_not_of("0123456789.") != domain.npos
                       && domain.find('.') != domain.npos;
  return std::string{is_name ? domain : origin};
}

/// True for a method whose documents are at an address that the DID's owner
/// chooses, not the operator: they must be fetched under the address guard.
/// Each did:web name has a host of its own, because such a name has no path
/// (`atproto::supported_did`).
inline bool document_is_foreign(const atproto::did& repo) noexcept {
  return repo.str().starts_with("did:web:");
}

/// The source of all DIDs that a directory answers for.
inline constexpr std::string_view directory_source = "directory";

/// The source that answers the look-up of a DID: `directory_source`, or the
/// domain of a did:web, whose subdomains count as one.
inline std::string identity_source(const atproto::did& repo) {
  if (!document_is_foreign(repo))
    return std::string{directory_source};
  constexpr std::string_view web = "did:web:";
  std::string_view name = repo.str();
  name = name.substr(web.size(),
                     name.find_first_of(":%", web.size()) - web.size());
  return std::string{web} + std::string{last_two_labels(name)};
}

} // namespace weir::actors
