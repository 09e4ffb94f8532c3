#pragma once

#include "actors/repo/repo_turn.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::actors {

/// Which collections of a repo are kept: those that it was added with, or, if
/// none were named, those that pass the filter of the node (SYNC-20).
class kept_collections {
public:
  /// Sets what the row says. A row that names no collection selects the filter
  /// of the node.
  void set(const storage::member_row& row) {
    own_.reset();
    if (row.collections.empty())
      return;
    if (auto own = wire::collection_filter::parse(row.collections))
      own_ = std::move(*own);
  }

  void begin_life(std::vector<std::string> collections, repo_turn& t) {
    storage::member_row row{t.settings.filter_generation,
                            std::move(collections)};
    set(row);
    t.lane.set_member(std::move(row));
  }

  /// The repo was added again: the named collections replace the kept ones.
  /// @returns whether they are different.
  bool change(const std::vector<std::string>& collections, repo_turn& t) {
    const auto wanted = wire::collection_filter::parse(collections);
    if (collections.empty() || !wanted
        || (own_ && own_->patterns() == wanted->patterns()))
      return false;
    begin_life(collections, t);
    return true;
  }

  bool has_own() const noexcept { return own_.has_value(); }

  const wire::collection_filter&
  filter(const repo_settings& settings) const noexcept {
    return own_ ? *own_ : settings.filter;
  }

private:
  std::optional<wire::collection_filter> own_;
};

} // namespace weir::actors
