#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::wire {

/// What was meant by a name of a collection, or by a pattern that ends with `.*`,
/// whose authority has large letters: `App.bsky.feed.Post` is `app.bsky.feed.Post`.
/// An authority is a domain, and records have it in small letters, so that such a
/// name fits none of them. Nothing when it is in small letters already; only the
/// last part of a name may have large ones.
std::optional<std::string> with_small_authority(std::string_view name);

} // namespace weir::wire
