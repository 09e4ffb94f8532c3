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

/// One client of subscribeRepos. It sends the events of a log after the
/// client's cursor, as fast as the client reads. As on real servers, the cursor
/// is exclusive (protocol-coverage.md 1.9); a client gets #info when the window
/// has passed its cursor, and FutureCursor beyond the newest event.
///
/// # Ownership and threads
/// Its session owns it. It works only on the loop of `alarms`.
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
  mutable std::mutex guard_; ///< Guards the next two.
  net::ws_session_ptr session_;
  bool closed_ = false;
  std::atomic<bool> awake_{false};
  bool resting_ = false; ///< A slow stream pauses. Used on the loop only.
  int64_t cursor_ = 0;   ///< The last event sent. Used on the loop only.
};

} // namespace weir::simnet
