#pragma once

#include <string>
#include <string_view>

namespace weir::actors {

/// The last two labels of a host name, because the owner of a domain has all
/// names below it. Names below a suffix like co.uk count as one, too. An
/// address is returned as it is.
std::string_view last_two_labels(std::string_view name) noexcept;

/// The owner of an origin's host: equal for all hosts of one domain, whatever
/// their ports. An address or a single label is a site of its own, with its
/// port.
std::string site_of(std::string_view origin);

} // namespace weir::actors
