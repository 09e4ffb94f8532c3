#pragma once

#include "apps/demo/copy.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>

namespace weir::sim {

/// Watches what the application gets for what no event may do. One thread.
class delivery_watch {
public:
  /// The application took an event.
  /// @param acked It acks the event, which it does at the latest when the event
  /// comes again.
  void note(const apps::event_copy& copy, const apps::event_copy::taken& x,
            bool acked) {
    const auto about = copy.accounts().find(x.did);
    if (x.is_record && about != copy.accounts().end() && !about->second.active
        && !about->second.status.empty())
      while_away_ = true;
    records_[x.did] += x.is_record ? 1 : 0;
    auto& waiting = unacked_[x.did];
    overtook_ |= x.live && !waiting.empty() && *waiting.begin() < x.id;
    if (!acked)
      waiting.insert(x.id);
    else
      waiting.erase(x.id);
  }

  /// The repo was removed: its events need no ack any more.
  void forget(const std::string& did) { unacked_.erase(did); }

  /// Records of a repo that came, again ones included.
  uint64_t records_of(const std::string& did) const {
    const auto found = records_.find(did);
    return found != records_.end() ? found->second : 0;
  }

  /// A record came after a fact said that its account is inactive, and before
  /// one said that it is active again.
  bool while_away() const noexcept { return while_away_; }

  /// A live record came while an earlier event of its account was not acked.
  bool overtook() const noexcept { return overtook_; }

private:
  std::unordered_map<std::string, uint64_t> records_;          ///< By DID.
  std::unordered_map<std::string, std::set<uint64_t>> unacked_; ///< By DID.
  bool while_away_ = false;
  bool overtook_ = false;
};

} // namespace weir::sim
