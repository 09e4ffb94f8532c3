#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace weir::wire {

/// Decides which collections are kept (SYNC-20 to 23). A pattern is an exact
/// NSID, or `a.b.*` for everything below that segment. An empty list, or the
/// pattern `*` alone, keeps everything.
class collection_filter {
public:
  collection_filter() = default;

  /// Fails with `ec::invalid_argument`, which names the first bad pattern.
  static result<collection_filter> parse(std::vector<std::string> patterns);

  bool matches(std::string_view nsid) const noexcept;

  bool matches_all() const noexcept {
    return exact_.empty() && prefixes_.empty();
  }

  /// The patterns as they were given, sorted and without duplicates.
  const std::vector<std::string>& patterns() const noexcept {
    return patterns_;
  }

private:
  std::vector<std::string> patterns_;
  std::vector<std::string> exact_; ///< Sorted.
  /// Each with its last dot, without the star.
  std::vector<std::string> prefixes_;
};

} // namespace weir::wire
