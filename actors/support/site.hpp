#pragma once

#include <string>
#include <string_view>

namespace weir::actors {

/// The last two labels of a host name: whoever has a domain has all names under
/// it. Those under a suffix like co.uk count as one, too. An address stays as
/// it is.
std::string_view last_two_labels(std::string_view name) noexcept;

/// Whose host an origin is: equal for all hosts under one domain, whatever
/// their ports. An address or a single label is a site of its own, with its
/// port.
std::string site_of(std::string_view origin);

} // namespace weir::actors
