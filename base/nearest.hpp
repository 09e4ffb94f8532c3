#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// How many letters must be inserted, removed, replaced or swapped with their
/// neighbour to turn `x` into `y`. The cost is the product of the lengths.
size_t edit_distance(std::string_view x, std::string_view y);

/// The candidate that `word` was most likely meant to be, or nothing when none
/// is close. Case is ignored, and `-` counts as `_`.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

/// Returns `; did you mean "..."?`, or an empty text when no candidate is
/// close.
std::string suggestion(std::string_view word,
                       const std::vector<std::string>& candidates);

/// Like `suggestion`, but it lists all candidates when none is close:
/// `; it takes a, b`, or `; it takes none` when there are none.
std::string nearest_or_all(std::string_view word,
                           const std::vector<std::string>& candidates);

} // namespace weir
