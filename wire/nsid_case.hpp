#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::wire {

/// Returns the name of a collection, or a pattern that ends with `.*`, with its
/// authority in lower case: `App.bsky.feed.Post` gives `app.bsky.feed.Post`.
/// Records have the authority, which is a domain, in lower case, so the other
/// spelling would match none of them. Returns nothing when the authority
/// already is in lower case; the last part of a name may have capitals.
std::optional<std::string> with_small_authority(std::string_view name);

} // namespace weir::wire
