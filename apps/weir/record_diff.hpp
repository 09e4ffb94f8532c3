#pragma once

#include "apps/weir/head_reader.hpp"
#include "apps/weir/repo_fetch.hpp"

#include <functional>
#include <string_view>

namespace weir::apps {

/// Compares the records of a repo with those of a proved export, both in the
/// order of their paths.
struct record_diff {
  /// Says whether a record of the export should be here, too.
  std::function<bool(std::string_view path)> kept;
  /// @param how The difference, as the rest of a sentence about the path.
  std::function<void(std::string_view path, const char* how)> differs;

  /// @returns the number of records in the export
  /// @pre `there` is good
  result<uint64_t> run(head_reader here, repo_fetch& there) const;
};

} // namespace weir::apps
