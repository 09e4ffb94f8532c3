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

/// Removed repos whose bytes have all left the disk. A CONSUMER may have read
/// their events before and keep them until an application connects. So the
/// board of accounts withholds these events until all consumers are past the
/// erasure. Without CAF; one thread.
///
/// # Limits
/// One entry for each erasure that some consumer has not passed: never more
/// than there are operations after it.
class ended_erasures {
public:
  /// @param through The last operation that was erased.
  void add(atproto::did repo, storage::op_id through) {
    waiting_.emplace(through, std::move(repo));
  }

  /// A consumer has durably settled everything up to `position`.
  void note(const std::string& consumer, storage::op_id position) {
    positions_[consumer] = position;
  }

  /// Takes the repos whose erasure all consumers have passed, each once.
  /// @param consumers Number of consumers.
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
