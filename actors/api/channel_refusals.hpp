#pragma once

#include "actors/api/limits.hpp"
#include "base/line_budget.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "net/ip_address.hpp"

#include <mutex>
#include <string>

namespace weir::actors {

/// Counts refused WebSocket channels and names their addresses in the log, at
/// most `limits::channel_lines_max` in `limits::channel_lines_interval`,
/// because an application whose connection is cut reconnects at once.
///
/// # Ownership and threads
/// Borrows the metric. Any thread.
class channel_refusals {
public:
  explicit channel_refusals(metric& counted) : counted_(counted) {}

  void tell(const net::ip_address& peer, const std::string& reason,
            steady_time now) {
    counted_.add();
    const auto verdict = [&] {
      const std::lock_guard guard{mutex_};
      return lines_.take(now);
    }();
    if (verdict == line_budget::verdict::line)
      log::info("channel_refused",
                {{"peer", net::to_string(peer)}, {"reason", reason}});
    else if (verdict == line_budget::verdict::last)
      log::info("channels_refused_unnamed",
                {{"hint", "more channels are refused than are named here: "
                          "weir_channels_refused_total counts all of them"}});
  }

private:
  metric& counted_;
  std::mutex mutex_;
  line_budget lines_{limits::channel_lines_max, limits::channel_lines_interval};
};

} // namespace weir::actors
