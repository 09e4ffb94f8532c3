#include "atproto/frame.hpp"
#include "base/parse_number.hpp"
#include "simnet/services.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace weir::simnet {

namespace {

constexpr uint16_t policy_violation = 1008;

/// The cursor after a refusal: nothing more is read from the log.
constexpr auto nothing_follows = INT64_MAX;

/// What one turn of the loop reads from the log.
constexpr size_t turn_frames_max = 256;
constexpr size_t turn_bytes_max = size_t{1} << 20;

/// How often, and how many times, it is checked whether the last frame was
/// sent.
constexpr std::chrono::milliseconds farewell_interval{5};
constexpr unsigned farewell_checks_max = 400;

net::ws_session_options session_options() {
  net::ws_session_options out;
  out.queue_messages_max = 1024;
  out.queue_bytes_max = size_t{8} << 20;
  return out;
}

class subscription final : public net::ws_session_listener,
                           public event_log::listener,
                           public std::enable_shared_from_this<subscription> {
public:
  subscription(event_log& log, std::shared_ptr<alarms> time)
    : log_(log), time_(std::move(time)) {}

  /// Servers ignore what clients send.
  void on_text(std::string_view) override {}

  void on_drained() override { wake(); }

  void on_news() override { wake(); }

  void on_closed(std::string_view) override {
    const std::lock_guard lock{guard_};
    closed_ = true;
    session_.reset();
  }

  void on_cut() override {
    net::ws_session_ptr x;
    {
      const std::lock_guard lock{guard_};
      x = std::exchange(session_, nullptr);
    }
    if (x)
      x->cut();
  }

  void on_repeat(int64_t cursor) override {
    time_->loop().post([weak = weak_from_this(), cursor] {
      if (const auto self = weak.lock())
        self->go_back(cursor);
    });
  }

  /// False when the connection has ended already.
  bool adopt(net::ws_session_ptr session) {
    const std::lock_guard lock{guard_};
    if (closed_)
      return false;
    session_ = std::move(session);
    return true;
  }

  void start(const std::optional<std::string>& cursor) {
    log_.subscribe(weak_from_this());
    if (!cursor) {
      cursor_ = log_.newest();
    } else if (const auto wanted = parse_number<int64_t>(*cursor)) {
      cursor_ = std::max<int64_t>(*wanted, 0);
    } else {
      return refuse("InvalidRequest", "Error: Params must have the property "
                                      "\"cursor\" as an integer");
    }
    const auto state = log_.judge(cursor_);
    if (state == event_log::cursor_state::future)
      return refuse("FutureCursor", "Cursor in the future.");
    if (state == event_log::cursor_state::outdated) {
      atproto::info_event info;
      info.name = "OutdatedCursor";
      info.message = "Requested cursor exceeded limit. Possibly missing events";
      if (const auto x = session())
        x->send(net::ws_message::binary(encode_frame(info)));
      cursor_ = log_.horizon();
    }
    wake();
  }

private:
  /// Sends what follows `cursor` again. A client that is not that far gets it
  /// anyway; one that was refused gets nothing.
  void go_back(int64_t cursor) {
    if (cursor_ == INT64_MAX)
      return;
    cursor_ = std::min(cursor_, cursor);
    wake();
  }

  void refuse(std::string_view name, std::string_view message) {
    cursor_ = nothing_follows;
    atproto::error_event error;
    error.name = name;
    error.message = message;
    if (const auto x = session())
      x->send(net::ws_message::binary(encode_frame(error)));
    close_when_sent(std::string{name}, farewell_checks_max);
  }

  /// Waits until the queue is empty, since a close frame would overtake what is
  /// queued.
  void close_when_sent(std::string name, unsigned checks_left) {
    const auto x = session();
    if (!x)
      return;
    if (x->queued_messages() == 0 || checks_left == 0)
      return x->close(policy_violation, name);
    time_->after(farewell_interval, [weak = weak_from_this(),
                                     name = std::move(name), checks_left] {
      if (const auto self = weak.lock())
        self->close_when_sent(name, checks_left - 1);
    });
  }

  /// Runs `pump` once on the loop, however many calls there are before it runs.
  void wake() {
    if (awake_.exchange(true))
      return;
    time_->loop().post([weak = weak_from_this()] {
      if (const auto self = weak.lock())
        self->pump();
    });
  }

  void pump() {
    awake_ = false;
    const auto x = session();
    if (!x || resting_ || cursor_ == nothing_follows)
      return;
    if (cursor_ < log_.horizon())
      return refuse("ConsumerTooSlow", "Stream consumer too slow");
    const auto rate = log_.rate();
    const auto page
      = log_.read(cursor_, turn_frames_max, rate == 0 ? turn_bytes_max : 1);
    size_t sent = 0;
    for (const auto& item : page) {
      if (!x->send(net::ws_message::binary(item.frame.view())))
        return; // `on_drained` continues.
      cursor_ = item.seq;
      sent += item.frame.size();
    }
    if (page.empty())
      log_.make_more(); // This calls `on_news`.
    else if (rate == 0)
      wake();
    else
      rest(std::chrono::microseconds{sent * 1'000'000 / rate});
  }

  /// Pauses the stream.
  void rest(std::chrono::microseconds time) {
    resting_ = true;
    time_->after(time, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) {
        self->resting_ = false;
        self->wake();
      }
    });
  }

  net::ws_session_ptr session() const {
    const std::lock_guard lock{guard_};
    return session_;
  }

  event_log& log_;
  const std::shared_ptr<alarms> time_;
  mutable std::mutex guard_; ///< Guards the next two.
  net::ws_session_ptr session_;
  bool closed_ = false;
  std::atomic<bool> awake_{false};
  bool resting_ = false; ///< A slow stream pauses. Used on the loop only.
  int64_t cursor_ = 0;   ///< The last event sent. Used on the loop only.
};

} // namespace

void open_subscription(const net::incoming_request& request,
                       const net::upgrader& answer, event_log& log,
                       const std::shared_ptr<alarms>& time) {
  const auto made = std::make_shared<subscription>(log, time);
  const auto session = answer.accept(made, session_options());
  if (!session)
    return;
  std::optional<std::string> cursor;
  if (const auto* text = request.parameter("cursor"))
    cursor = *text;
  time->loop().dispatch([made, session, cursor] {
    if (made->adopt(session))
      made->start(cursor);
  });
}

} // namespace weir::simnet
