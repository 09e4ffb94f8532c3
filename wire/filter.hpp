#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace weir::wire {

/// Which collections are kept (SYNC-20 to SYNC-23): exact NSIDs, or
/// `a.b.*` for everything below a segment boundary. Empty, or the pattern `*`
/// alone, keeps everything.
class collection_filter {
public:
  collection_filter() = default;

  /// `ec::invalid_argument` names the bad pattern.
  static result<collection_filter> parse(std::vector<std::string> patterns);

  bool matches(std::string_view nsid) const noexcept;

  bool matches_all() const noexcept {
    return exact_.empty() && prefixes_.empty();
  }

  /// As given, sorted, without duplicates.
  const std::vector<std::string>& patterns() const noexcept {
    return patterns_;
  }

private:
  std::vector<std::string> patterns_;
  std::vector<std::string> exact_;    ///< Sorted.
  std::vector<std::string> prefixes_; ///< With the dot, without the star.
};

} // namespace weir::wire
