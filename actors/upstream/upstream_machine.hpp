#pragma once

#include "actors/upstream/admission_machine.hpp"
#include "actors/upstream/careful_machine.hpp"
#include "actors/upstream/limits.hpp"
#include "actors/upstream/redial_pace.hpp"
#include "actors/upstream/stream_epoch.hpp"
#include "actors/upstream/stream_flight.hpp"
#include "actors/upstream/stream_numbers.hpp"
#include "actors/upstream/stream_quiet.hpp"
#include "actors/upstream/stream_rest.hpp"
#include "actors/upstream/upstream_types.hpp"
#include "atproto/stamped_frame.hpp"
#include "base/clock.hpp"
#include "messages/frames.hpp"
#include "storage/format/records.hpp"

#include <optional>
#include <string>
#include <vector>

namespace weir::actors {

/// The rules of one stream: position, window, liveness, resets
/// (protocol-coverage.md 1; CONS-04, 05, 15, 16, 23).
///
/// Feed it events, carry out the `effects`. The stored cursor is the low-water
/// mark: each frame up to it is durable, a recorded gap, or dropped by rule.
///
/// Its parts own the numbers (`stream_numbers`), the epoch (`stream_epoch`),
/// the frames in flight (`stream_flight`), what the socket may bring
/// (`admission_machine`), how far it is by the time of day (`stream_quiet`),
/// when it rested (`stream_rest`), and when its row is written (`row_writes`).
class upstream_machine {
public:
  struct dial {
    std::optional<uint64_t> cursor; ///< None: from now on.
  };

  struct effects {
    std::optional<dial> connect;
    std::optional<std::string> disconnect; ///< The reason, for people.
    size_t grant_frames = 0;               ///< More credit for the socket.
    size_t grant_bytes = 0;
    std::vector<atproto::stamped_frame> forward;
    /// Write this row; answer with `on_row_durable`.
    std::optional<storage::upstream_row> write;
    /// Call `on_timer` then.
    std::optional<steady_time> timer;
    /// Compare a listing: events may be missing (protocol-coverage.md 1.12).
    bool list_repos = false;
    /// The stream ended for good, with the reason.
    std::optional<std::string> stopped;
    /// Things an operator should see.
    std::vector<std::string> alerts;

    void arm(steady_time at) { timer = std::min(timer.value_or(at), at); }
  };

  upstream_machine(storage::upstream_row row, upstream_options options);

  upstream_machine(const upstream_machine&) = delete; // Its parts know the row.
  upstream_machine& operator=(const upstream_machine&) = delete;

  effects start(steady_time now);
  effects on_open(steady_time now);

  /// The first frame after a silence shows whether the stream had nothing to
  /// send or was late. If it was late, it was behind then and did not rest.
  effects on_frames(std::vector<shared_bytes> frames, steady_time now,
                    wall_time wall);

  /// Keeps the reason why it is not connected, for people. A reason for which
  /// this node ended the connection comes before what the socket says. Call it
  /// before `on_closed`.
  void note_end(const stream_closed& end);

  /// @param draw A random number, for the wait before the next connection.
  effects on_closed(const stream_closed& end, uint64_t draw, steady_time now);

  /// Frames of `epoch` that are finished.
  effects on_done(uint32_t epoch, const std::vector<uint64_t>& seqs,
                  steady_time now);

  /// This number of frames failed verification. Call it before `on_done`.
  void on_refused(size_t frames, steady_time now) {
    admission_.on_refused(frames, now);
  }

  /// Frames were lost inside the node: read again from the low-water mark.
  effects on_lost(steady_time now);
  effects on_row_durable(steady_time now);
  effects on_timer(steady_time now);

  /// Whether frames are read at all: without room nothing more is granted.
  effects on_intake(bool reads, steady_time now) {
    effects out;
    admission_.on_room(reads);
    give_credit(now, out);
    return out;
  }

  /// The socket says whether it is read. Call it before `on_timer`.
  effects on_look(bool is_read, steady_time now);

  /// A new connection did not help: its socket is not read either.
  bool keeps_stalling(steady_time now) const noexcept {
    return admission_.keeps_stalling(now);
  }

  /// Nothing but bad frames came lately.
  bool is_unreadable(steady_time now) const noexcept {
    return numbers_.bad_in_a_row() >= limits::health_bad_frames_min
           && now - bad_at_ <= limits::health_memory;
  }

  /// The node stops: returns the last row to be written.
  effects on_stop() {
    effects out;
    careful_machine::end_life(row_);
    out.write = row_;
    return out;
  }

  /// Low-water mark and reset state as they would be persisted.
  const storage::upstream_row& row() const noexcept { return row_; }

  bool connected() const noexcept { return connected_; }

  /// Whether it was connected at some time since the start.
  bool opened() const noexcept { return opened_; }

  /// Why the last connection ended, for people.
  const std::string& last_error() const noexcept { return last_error_; }

  /// Whether it is connected and the epoch has a first seq, or at least no
  /// hole.
  bool live() const noexcept {
    return connected_ && (!row_.reset_pending || whole());
  }

  /// Whether no event of this epoch came yet and none was missed: the
  /// connection with which it began is open, and its row is durable.
  bool whole() const noexcept {
    return connected_ && !dropping_ && epoch_.is_whole();
  }

  /// The row with the present stamp (`stream_epoch`) is on disk.
  bool stamp_durable() const noexcept { return !writes_.stamp_waits(); }

  /// Every event from before this moment has come and is finished.
  wall_time passed() const noexcept { return quiet_.passed(); }

  /// Notes in the row up to which time of day all events have come. Call it
  /// before `on_timer` and `on_stop`, which write the row.
  void note_passed(steady_time now, wall_time wall) {
    if (quiet_.write(row_, arrivals_, now, wall))
      writes_.touch();
  }

  /// The time since which it is connected, read, and has nothing in flight.
  const std::optional<steady_time>& quiet_since() const noexcept {
    return quiet_.since();
  }

  size_t in_flight() const noexcept { return flight_.size(); }
  size_t in_flight_bytes() const noexcept { return flight_.bytes(); }

  const stream_rest& rest() const noexcept { return rest_; }

  /// How late frames came, so how long a silence must last to mean anything.
  const stream_arrivals& arrivals() const noexcept { return arrivals_; }

  /// Frames up to this seq that wait for a right clock are given up, because
  /// they fill the window; 0: none is.
  uint64_t gives_way() const noexcept {
    return flight_.surplus(options_.frames_max / limits::clock_window_part,
                           options_.bytes_max / limits::clock_window_part);
  }

  const upstream_counters& counters() const noexcept { return counters_; }

  /// Highest seq received on any connection of this epoch.
  uint64_t last_received() const noexcept { return numbers_.last_received(); }

private:
  dial connect() {
    const auto from = epoch_.start_cursor();
    numbers_.dial(from.value_or(0));
    from_now_ = !from;
    return {from};
  }
  effects take(std::vector<shared_bytes> frames, steady_time now);
  void take_frame(shared_bytes frame, steady_time now, effects& out);
  void stamp(atproto::stamped_frame x, uint64_t seq, effects& out);
  void note_quiet(steady_time now) { quiet_.note(admission_.is_quiet(), now); }
  void take_special(const atproto::frame_peek& peek, bytes_view frame,
                    effects& out);
  void take_error(std::string_view name, effects& out);
  void take_malformed(const error& why, effects& out);
  bool accept_seq(uint64_t seq, effects& out);
  void restart_numbers(const std::string& why, effects& out);
  void begin_reset() {
    ++counters_.resets;
    epoch_.begin();
  }
  void advance();
  void pass_on(atproto::stamped_frame x, effects& out) {
    if (careful_.on())
      careful_.hold(std::move(x));
    else
      out.forward.push_back(std::move(x));
  }
  void go_on_carefully(steady_time now, effects& out);
  void release_careful(effects& out);
  void give_credit(steady_time now, effects& out);
  void drop_connection(std::string why, effects& out, steady_time now);

  storage::upstream_row row_;
  upstream_options options_;
  upstream_counters counters_;
  bool connected_ = false;
  bool opened_ = false;
  bool from_now_ = false; ///< The connection asked for new events only.
  bool dropping_ = false; ///< Closed by us; late frames are not taken.
  bool stopped_ = false;
  std::string end_reason_; ///< Not empty: the connection is to be ended.
  std::string hung_up_for_; ///< Why this node ended it, until it is closed.
  std::string last_error_;
  row_writes writes_;
  stream_epoch epoch_{row_, writes_};
  std::vector<atproto::stamped_frame> held_; ///< Their stamp is not durable.
  careful_machine careful_;
  stream_flight flight_;
  admission_machine admission_{flight_, options_};
  stream_numbers numbers_;
  steady_time bad_at_; ///< When the last bad frame was skipped.
  stream_arrivals arrivals_;
  stream_quiet quiet_;
  stream_rest rest_;
  size_t infos_ = 0; ///< Number on this connection.
  redial_pace pace_;
  std::optional<steady_time> redial_at_;
};

} // namespace weir::actors
