#pragma once

#include "atproto/identifiers.hpp"
#include "storage/format/records.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weir::actors {

/// Removed repos of which the disk holds nothing any more. A CONSUMER may have
/// read their events before that and hold them until an application comes, so the
/// board of accounts withholds them until all consumers are past the erasing.
/// Without CAF; one thread.
///
/// # Limits
/// One entry for each erasing that some consumer has not passed: never more than
/// there are operations behind it.
class ended_erasures {
public:
  /// @param through The last operation that was erased.
  void add(atproto::did repo, storage::op_id through) {
    waiting_.emplace(through, std::move(repo));
  }

  /// A consumer has settled everything up to `position`, and says so on disk.
  void note(const std::string& consumer, storage::op_id position) {
    positions_[consumer] = position;
  }

  /// Those that all consumers have passed; each is handed out once.
  /// @param consumers How many there are.
  std::vector<std::pair<storage::op_id, atproto::did>>
  take_passed(size_t consumers) {
    std::vector<std::pair<storage::op_id, atproto::did>> out;
    if (waiting_.empty() || positions_.size() < consumers)
      return out;
    auto least = std::numeric_limits<storage::op_id>::max();
    for (const auto& [name, position] : positions_)
      least = std::min(least, position);
    const auto end = waiting_.upper_bound(least);
    for (auto i = waiting_.begin(); i != end; ++i)
      out.emplace_back(i->first, std::move(i->second));
    waiting_.erase(waiting_.begin(), end);
    return out;
  }

private:
  std::multimap<storage::op_id, atproto::did> waiting_; ///< By `through`.
  std::map<std::string, storage::op_id> positions_;
};

} // namespace weir::actors
