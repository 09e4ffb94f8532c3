#pragma once

#include "actors/upstream/careful_machine.hpp"
#include "actors/upstream/passed_times.hpp"
#include "actors/upstream/past_flight.hpp"
#include "actors/upstream/recent_numbers.hpp"
#include "actors/upstream/redial_pace.hpp"
#include "actors/upstream/stream_arrivals.hpp"
#include "actors/upstream/stream_credit.hpp"
#include "actors/upstream/upstream_types.hpp"
#include "atproto/stamped_frame.hpp"
#include "base/clock.hpp"
#include "storage/format/records.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace weir::actors {

/// The rules of one stream: position, window, liveness, resets
/// (protocol-coverage.md 1, CONS-04, 05, 15, 16, 23), without CAF, clock or
/// socket.
///
/// Feed it events, carry out the `effects`. The cursor that is persisted is
/// the low-water mark: all frames at or below it are durable, recorded as a
/// gap, or dropped by rule.
class upstream_machine {
public:
  struct dial {
    std::optional<uint64_t> cursor; ///< None: from now on.
  };

  struct effects {
    std::optional<dial> connect;
    std::optional<std::string> disconnect; ///< With the reason, for people.
    size_t grant_frames = 0; ///< More credit for the socket.
    size_t grant_bytes = 0;
    std::vector<atproto::stamped_frame> forward;
    /// Write this row; answer with `on_row_durable`.
    std::optional<storage::upstream_row> write;
    /// Call `on_timer` then.
    std::optional<steady_time> timer;
    /// Repos may have missed events: compare a listing
    /// (protocol-coverage.md 1.12).
    bool list_repos = false;
    /// The stream ended for good, with the reason.
    std::optional<std::string> stopped;
    /// Things an operator should see.
    std::vector<std::string> alerts;
  };

  upstream_machine(storage::upstream_row row, upstream_options options);

  effects start(steady_time now);

  effects on_open(steady_time now);

  effects on_frames(std::vector<shared_bytes> frames, steady_time now);

  effects on_closed(const stream_end& end, steady_time now);

  /// Frames of `epoch` that are finished.
  effects on_done(uint32_t epoch, const std::vector<uint64_t>& seqs,
                  steady_time now);

  /// Of so many frames so many were not what they claim. Before `on_done`.
  void on_verdicts(size_t frames, size_t refused, steady_time now) {
    credit_.rate().earn(frames - std::min(frames, refused));
    credit_.rate().charge(refused, now);
  }

  /// Frames were lost inside the node: read again from the low-water mark.
  effects on_lost(steady_time now);

  effects on_row_durable(steady_time now);

  /// Whether frames are read at all: without room nothing more is granted.
  effects on_intake(bool reads, steady_time now);

  /// The socket says whether it is read. Before `on_timer`.
  effects on_look(bool is_read, steady_time now);

  /// Another socket is not read either.
  bool keeps_stalling(steady_time now) const noexcept {
    return credit_.keeps_stalling(now);
  }

  effects on_timer(steady_time now);

  /// The node ends in order: the last row.
  effects on_stop();

  /// Low-water mark and reset state as they would be persisted.
  const storage::upstream_row& row() const noexcept {
    return row_;
  }

  bool connected() const noexcept {
    return connected_;
  }

  /// Connected, and no reset pending (completeness.md, The terms): the epoch
  /// has its first number, or is without a hole although nothing came yet.
  bool live() const noexcept {
    return connected_ && (!row_.reset_pending || whole());
  }

  /// No event of this epoch came yet, and none was missed: the connection that
  /// began it is open, and its row is durable. Another connection that is asked
  /// without a cursor begins another epoch.
  bool whole() const noexcept {
    return connected_ && !dropping_ && row_.first_cursor == 0 && begun_
           && durable_reset_ == row_.epoch;
  }

  /// The row with the current first_cursor_since_reset is on disk.
  bool stamp_durable() const noexcept {
    return !stamp_blocked_;
  }

  /// What changed before this moment has come and is finished.
  wall_time passed() const noexcept { return passed_.middle(); }

  /// Notes in the row how far the stream is by the time of day: up to now when
  /// it is quiet, else as far as its last frames say. Before `on_timer` and
  /// `on_stop`, which write it.
  void note_passed(steady_time now, wall_time wall);

  /// What came after a silence shows whether the stream was quiet. When it was
  /// not, the row says again how far the stream was before.
  void judge_silence(bool was_quiet) noexcept;

  /// Connected and read, with nothing in flight, since then.
  const std::optional<steady_time>& quiet_since() const noexcept {
    return quiet_since_;
  }

  size_t in_flight() const noexcept { return flight_.size() + past_.frames(); }

  size_t in_flight_bytes() const noexcept {
    return flight_bytes_ + past_.bytes();
  }

  /// How late frames came, and what silence means after them.
  const stream_arrivals& arrivals() const noexcept { return arrivals_; }

  /// What waits for a right clock fills more of the window than it may: up to
  /// this seq it gives way. Else 0.
  uint64_t gives_way() const noexcept;

  const upstream_counters& counters() const noexcept { return counters_; }

  /// Highest seq received on any connection of this epoch.
  uint64_t last_received() const noexcept {
    return last_received_;
  }

private:
  struct flying {
    uint64_t seq = 0;
    uint32_t bytes = 0;
    bool done = false;
    wall_time changed; ///< When what it tells happened; 0: it does not say.
  };

  std::optional<uint64_t> start_cursor() const;
  dial connect();
  void take_frame(shared_bytes frame, steady_time now, effects& out);
  void note_quiet(steady_time now);
  void take_special(const atproto::frame_peek& peek, bytes_view frame,
                    effects& out);
  void take_error(std::string_view name, effects& out);
  void take_malformed(const error& why, effects& out);
  bool accept_seq(uint64_t seq, effects& out);
  bool too_many_below_cursor(effects& out);
  void restart_numbers(const std::string& why, effects& out);
  void begin_reset();
  void begin_without_cursor(steady_time now, effects& out);
  void forget_numbers();
  void advance();
  void finish(const std::vector<uint64_t>& seqs);
  void persist(steady_time now, effects& out);
  void persist_in_time(steady_time now, effects& out);
  void pass_on(atproto::stamped_frame x, effects& out);
  void go_on_carefully(steady_time now, effects& out);
  void release_careful(effects& out);
  void give_credit(steady_time now, effects& out);
  void arm(effects& out, steady_time at);
  void drop_connection(std::string why, effects& out, steady_time now);

  storage::upstream_row row_;
  upstream_options options_;
  stream_credit credit_;
  upstream_counters counters_;
  bool connected_ = false;
  bool dropping_ = false; ///< Closed by us; late frames are not taken.
  bool stopped_ = false;
  bool paused_ = false; ///< Nothing is granted.
  bool write_in_flight_ = false;
  bool row_dirty_ = false;
  bool list_wanted_ = true; ///< Until a listing was compared at the new stamp.
  bool urgent_ = false;          ///< The row must not wait for the timer.
  bool write_has_stamp_ = false; ///< The write in flight has the new stamp.
  bool stamp_blocked_ = false;   ///< The row of a new stamp is not durable yet.
  std::string end_reason_; ///< Not empty: the connection is to be ended.
  bool begun_ = false; ///< A connection of this epoch was open.
  /// Epoch of the row that was written last, and of the last durable one, when
  /// its first number was not known; else 0.
  uint32_t written_reset_ = 0;
  uint32_t durable_reset_ = 0;
  std::vector<atproto::stamped_frame> held_;
  careful_machine careful_;
  uint64_t written_suspect_ = 0; ///< In the row that was written last.
  std::deque<flying> flight_;
  past_flight past_;
  passed_times passed_;
  stream_arrivals arrivals_;
  bool passed_noted_ = false; ///< Nothing came since the row says "up to now".
  std::optional<int64_t> passed_before_; ///< What it said before that.
  std::optional<steady_time> quiet_since_;
  size_t flight_bytes_ = 0;
  uint64_t last_received_ = 0;
  uint32_t numbers_since_ = 0; ///< Epoch in which seqs last started anew.
  uint64_t last_on_connection_ = 0;
  recent_numbers recent_;
  uint64_t dialled_at_ = 0; ///< The cursor that was asked from; 0: none.
  size_t below_cursor_ = 0; ///< Frames of this connection at or before it.
  size_t regressions_ = 0;
  size_t infos_ = 0; ///< On this connection.
  bool first_on_connection_ = true;
  uint64_t bad_cursor_ = 0;
  size_t bad_tries_ = 0;
  redial_pace pace_;
  std::optional<steady_time> redial_at_;
  steady_time last_write_; ///< When the last one began.
};

} // namespace weir::actors
