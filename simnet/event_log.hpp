#pragma once

#include "base/bytes.hpp"
#include "simnet/options.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace weir::simnet {

/// The frames of one stream with their sequence numbers, as far back as its
/// server keeps them (protocol-coverage.md 10.14).
///
/// # Ownership and threads
/// All calls are safe from any thread. Listeners are held weakly and called
/// without the lock, on the thread that made the change.
///
/// # Limits
/// `window_options`; the oldest frames are dropped first.
class event_log {
public:
  class listener {
  public:
    virtual ~listener() = default;

    /// There are new frames.
    virtual void on_news() = 0;

    /// The server cuts its connections.
    virtual void on_cut() = 0;

    /// The server sends everything after `cursor` again.
    virtual void on_repeat(int64_t cursor) = 0;
  };

  /// Encodes a frame with the number `seq`.
  using encoder = std::function<bytes(int64_t seq)>;

  explicit event_log(window_options window) : window_(window) {}

  /// Sets what makes more frames when a client has read all, for an endless
  /// stream. Call it before the first client.
  void set_spring(std::function<void()> x) { spring_ = std::move(x); }

  /// Makes more frames, if `set_spring` was called.
  void make_more() const;

  /// Limits the bytes per second for each client; 0 for no limit.
  void set_rate(uint64_t bytes_per_second) {
    rate_ = bytes_per_second;
    announce();
  }

  uint64_t rate() const noexcept { return rate_; }

  /// Gives the next number to a frame of `account`. @returns the number.
  int64_t append(size_t account, const encoder& encode);

  /// Appends a frame that has its number already. @pre `seq > newest()`
  void append(size_t account, int64_t seq, shared_bytes frame);

  /// What happens to events between `begin_loss` and `end_loss`.
  enum class loss : uint8_t {
    none,
    gone,    ///< They get numbers but are never sent.
    garbled, ///< Their frames are cut in half, so nobody can read them.
  };

  /// Events are lost from here on ...
  void begin_loss(loss how) {
    const std::lock_guard lock{guard_};
    losing_ = how;
  }

  /// ... until here. @returns the account of each lost event.
  /// @param announced The window then begins here: older frames are dropped as
  /// well, and clients that are behind get #info (`outdated`).
  std::vector<size_t> end_loss(bool announced);

  /// Drops the frames of an account, as a PDS does after a deletion.
  void erase(size_t account);

  /// Drops all frames and starts the numbers at 1 again.
  void restart();

  /// Sends the last events again to all listeners. @returns how many.
  size_t repeat(size_t events);

  /// Holds back what is appended from now on. `let_go` then releases all of it
  /// at once.
  void hold_back() {
    const std::lock_guard lock{guard_};
    if (!held_after_)
      held_after_ = newest_;
  }
  void let_go();

  /// Cuts the connections of all listeners. @returns how many there were.
  size_t cut();

  enum class cursor_state : uint8_t { good, outdated, future };

  /// How a client that asks for everything after `cursor` is answered.
  cursor_state judge(int64_t cursor) const;

  struct numbered_frame {
    int64_t seq = 0;
    shared_bytes frame;
  };

  /// Frames after `cursor`, oldest first; at least one when there is any.
  std::vector<numbered_frame> read(int64_t cursor, size_t frames_max,
                                   size_t bytes_max) const;

  int64_t newest() const {
    const std::lock_guard lock{guard_};
    return newest_;
  }

  /// Events up to here are no longer in the window.
  int64_t horizon() const {
    const std::lock_guard lock{guard_};
    return horizon_;
  }

  /// Number of frames in the window.
  size_t size() const {
    const std::lock_guard lock{guard_};
    return entries_.size();
  }

  void subscribe(std::weak_ptr<listener> x) {
    const std::lock_guard lock{guard_};
    listeners_.push_back(std::move(x));
  }

  size_t subscribers() const { return listeners().size(); }

private:
  struct entry {
    int64_t seq;
    size_t account;
    shared_bytes frame;
  };

  std::vector<std::shared_ptr<listener>> listeners() const;

  /// The last event that clients may get. @pre the lock is held
  int64_t shown() const noexcept {
    return held_after_ ? std::min(*held_after_, newest_) : newest_;
  }
  void store(entry x);
  void announce() const {
    for (const auto& x : listeners())
      x->on_news();
  }

  const window_options window_;
  std::function<void()> spring_;
  std::atomic<uint64_t> rate_{0};
  mutable std::mutex guard_;
  std::deque<entry> entries_;
  size_t bytes_ = 0;
  int64_t newest_ = 0;
  /// Frames up to here are gone, and clients that want them get #info.
  int64_t horizon_ = 0;
  std::optional<int64_t> held_after_; ///< Later events are held back.
  loss losing_ = loss::none;
  std::vector<size_t> lost_;
  mutable std::vector<std::weak_ptr<listener>> listeners_;
};

} // namespace weir::simnet
