#pragma once

#include "base/bytes.hpp"
#include "simnet/options.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace weir::simnet {

/// The frames of one stream with their sequence numbers, as far back as its
/// server remembers (protocol-coverage.md 10.14).
///
/// # Ownership and threads
/// All calls from any thread. Listeners are held weakly and called outside the
/// lock, on the thread that caused the news.
///
/// # Limits
/// `window_options`; the oldest frames go first.
class event_log {
public:
  class listener {
  public:
    virtual ~listener() = default;

    /// There are new frames.
    virtual void on_news() = 0;

    /// The server drops its connections.
    virtual void on_cut() = 0;

    /// The server sends what follows `cursor` once more.
    virtual void on_repeat(int64_t cursor) = 0;
  };

  /// Encodes a frame that carries `seq`.
  using encoder = std::function<bytes(int64_t seq)>;

  explicit event_log(window_options window) : window_(window) {
    // nop
  }

  /// What makes frames when a client has read all there are, for a stream
  /// without end. Before the first client.
  void set_spring(std::function<void()> x) { spring_ = std::move(x); }

  /// Asks for more, if anything makes any.
  void make_more() const;

  /// How fast each client is served; 0: as fast as it takes.
  void set_rate(uint64_t bytes_per_second);

  uint64_t rate() const noexcept { return rate_; }

  /// Gives the next number to a frame of `account`; returns it.
  int64_t append(size_t account, const encoder& encode);

  /// Appends a frame that carries its number already. @pre `seq > newest()`
  void append(size_t account, int64_t seq, shared_bytes frame);

  /// What becomes of events between `begin_loss` and `end_loss`.
  enum class loss : uint8_t {
    none,
    gone,    ///< They get numbers, and nobody will ever get them.
    garbled, ///< Their frames are cut in half, and can be read by nobody.
  };

  /// From here on events are lost ...
  void begin_loss(loss how);

  /// ... until here. Returns the account of each event that was lost.
  /// @param announced Whether the window begins here: older frames go, too, and
  /// clients that are behind are told (`outdated`).
  std::vector<size_t> end_loss(bool announced);

  /// Forgets the frames of an account, as a PDS does after its deletion.
  void erase(size_t account);

  /// Starts the numbers anew from 1, without any frames.
  void restart();

  /// Sends the last events once more, as they are, to whoever listens; returns
  /// how many.
  size_t repeat(size_t events);

  /// Nobody gets what is appended from now on, until `let_go`: then it comes
  /// late, all at once.
  void hold_back();
  void let_go();

  /// Cuts the connections of all listeners; returns how many there were.
  size_t cut();

  enum class cursor_state : uint8_t { good, outdated, future };

  /// What a client asking for everything after `cursor` must be told.
  cursor_state judge(int64_t cursor) const;

  struct numbered_frame {
    int64_t seq = 0;
    shared_bytes frame;
  };

  /// Frames after `cursor`, oldest first; at least one when there is any.
  std::vector<numbered_frame> read(int64_t cursor, size_t frames_max,
                                   size_t bytes_max) const;

  int64_t newest() const;

  /// Events up to here are not in the window any more.
  int64_t horizon() const;

  /// Frames in the window.
  size_t size() const;

  void subscribe(std::weak_ptr<listener> x);

  size_t subscribers() const;

private:
  struct entry {
    int64_t seq;
    size_t account;
    shared_bytes frame;
  };

  std::vector<std::shared_ptr<listener>> listeners() const;
  int64_t shown() const noexcept;
  void store(entry x);
  void announce() const;

  const window_options window_;
  std::function<void()> spring_;
  std::atomic<uint64_t> rate_{0};
  mutable std::mutex guard_;
  std::deque<entry> entries_;
  size_t bytes_ = 0;
  int64_t newest_ = 0;
  int64_t horizon_ = 0; ///< Up to here frames are gone, and clients are told.
  std::optional<int64_t> held_after_; ///< What is later is held back.
  loss losing_ = loss::none;
  std::vector<size_t> lost_;
  mutable std::vector<std::weak_ptr<listener>> listeners_;
};

} // namespace weir::simnet
