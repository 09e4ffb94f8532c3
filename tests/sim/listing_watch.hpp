#pragma once

#include <cstdint>
#include <map>
#include <string_view>

namespace weir::sim {

/// Counts pages of listings that changed while they were read: their server had
/// more events when the node asked for them than when it asked for the page
/// before.
///
/// One thread.
class listing_watch {
public:
  /// @param head The bytes that the node wrote, the beginning of a request.
  /// @param events The number of events that the stream of this server has had.
  void on_request(uint16_t server, std::string_view head, uint64_t events) {
    if (!head.starts_with("GET /xrpc/com.atproto.sync.listRepos?"))
      return;
    const auto line = head.substr(0, head.find('\r'));
    auto& before = events_[server];
    if (line.find("cursor=") != std::string_view::npos && events != before)
      ++changed_;
    before = events;
  }

  uint64_t changed() const noexcept { return changed_; }

private:
  std::map<uint16_t, uint64_t> events_; ///< At the last page, by port.
  uint64_t changed_ = 0;
};

} // namespace weir::sim
