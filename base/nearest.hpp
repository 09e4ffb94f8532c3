#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// How many letters must be inserted, removed, replaced or swapped with their
/// neighbour to make `y` of `x`. Cost is the product of the lengths.
size_t edit_distance(std::string_view x, std::string_view y);

/// The candidate that was most likely meant by `word`; nothing when none is
/// near. Case and `-` for `_` count nothing.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

/// `; did you mean "..."?`, or nothing.
std::string suggestion(std::string_view word,
                       const std::vector<std::string>& candidates);

/// The same, and when none is near `; it takes a, b` with all that there are, or
/// `; it takes none`.
std::string nearest_or_all(std::string_view word,
                           const std::vector<std::string>& candidates);

} // namespace weir
