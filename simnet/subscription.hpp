#pragma once

#include "net/http_server.hpp"
#include "simnet/alarms.hpp"
#include "simnet/event_log.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace weir::simnet {

/// One client of subscribeRepos: sends what the log holds from the client's
/// cursor on, as fast as the client takes it (protocol-coverage.md 1.9, 1.12,
/// 1.13: the cursor is exclusive, #info when the window has passed it,
/// FutureCursor beyond the newest event).
///
/// # Ownership and threads
/// Kept by its session. Works on the loop of `alarms` alone.
class subscription final : public net::ws_session_listener,
                           public event_log::listener,
                           public std::enable_shared_from_this<subscription> {
public:
  /// Accepts the upgrade and starts. `log` outlives the session.
  static void open(const net::incoming_request& request,
                   const net::upgrader& answer, event_log& log,
                   std::shared_ptr<alarms> time);

  subscription(event_log& log, std::shared_ptr<alarms> time);

  void on_text(std::string_view message) override;
  void on_drained() override;
  void on_closed(std::string_view reason) override;
  void on_news() override;
  void on_cut() override;
  void on_repeat(int64_t cursor) override;

private:
  bool adopt(net::ws_session_ptr session);
  void go_back(int64_t cursor);
  void start(const std::optional<std::string>& cursor);
  void refuse(std::string_view name, std::string_view message);
  void close_when_sent(std::string name, unsigned checks_left);
  void wake();
  void pump();
  void rest(std::chrono::microseconds time);
  net::ws_session_ptr session() const;

  event_log& log_;
  const std::shared_ptr<alarms> time_;
  mutable std::mutex guard_; ///< Of the two below.
  net::ws_session_ptr session_;
  bool closed_ = false;
  std::atomic<bool> awake_{false};
  bool resting_ = false; ///< Until a slow stream may go on. Of the loop.
  int64_t cursor_ = 0; ///< The last event sent. Of the loop.
};

} // namespace weir::simnet
