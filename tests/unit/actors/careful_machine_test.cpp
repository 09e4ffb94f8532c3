#include "actors/upstream/limits.hpp"
#include "tests/unit/actors/upstream_stream.hpp"

#include <gmock/gmock.h>

// hostile-inputs.md 2.1.34: a frame is skipped after the process has ended
// limits::poison_frame_ends_max times with it.

namespace weir::tests {
namespace {

using storage::stream_life;
using testing::ElementsAre;
using testing::IsEmpty;

/// A disk that keeps the last row, and processes that crash.
class crashing_stream {
public:
  crashing_stream() { begin(); }

  /// The process crashes, and another one starts.
  void crash() { begin(); }

  /// Makes the row that the machine writes durable.
  upstream_machine::effects write(upstream_machine::effects x) {
    std::vector<upstream_machine::effects> out;
    while (x.write) {
      disk = *x.write;
      auto next = now->machine.on_row_durable(t0);
      std::move(x.forward.begin(), x.forward.end(),
                std::back_inserter(forwarded));
      alerts.insert(alerts.end(), x.alerts.begin(), x.alerts.end());
      x = std::move(next);
    }
    std::move(x.forward.begin(), x.forward.end(),
              std::back_inserter(forwarded));
    alerts.insert(alerts.end(), x.alerts.begin(), x.alerts.end());
    return x;
  }

  void take(const std::vector<int64_t>& seqs) { write(now->take_seqs(seqs)); }

  void done(uint64_t seq, steady_time at = t0) { write(now->done({seq}, at)); }

  std::vector<uint64_t> take_forwarded() {
    std::vector<uint64_t> out;
    for (const auto& x : std::exchange(forwarded, {}))
      out.push_back(x.at.seq);
    return out;
  }

  storage::upstream_row disk = row_at(10, 1);
  std::unique_ptr<stream> now;
  std::vector<atproto::stamped_frame> forwarded;
  std::vector<std::string> alerts;

private:
  void begin() {
    careful_machine::begin_life(disk);
    now = std::make_unique<stream>(disk);
    forwarded.clear();
    alerts.clear();
  }
};

TEST(careful_stream, usually_frames_are_handled_side_by_side) {
  crashing_stream x;
  EXPECT_EQ(x.disk.life, stream_life::running);
  x.take({11, 12, 13});
  EXPECT_THAT(x.take_forwarded(), ElementsAre(11, 12, 13));
}

TEST(careful_stream, a_life_that_ended_in_order_is_followed_by_a_usual_one) {
  crashing_stream x;
  x.crash();
  x.take({11});
  const auto last = x.now->machine.on_stop();
  ASSERT_TRUE(last.write);
  EXPECT_EQ(last.write->life, stream_life::settled);
  EXPECT_EQ(last.write->suspect, 0u);
  x.disk = *last.write;
  x.crash();
  EXPECT_EQ(x.disk.life, stream_life::running);
}

TEST(careful_stream, a_life_whose_cursor_moved_is_followed_by_a_usual_one) {
  crashing_stream x;
  x.take({11, 12});
  x.done(11, t0 + limits::cursor_write_interval);
  EXPECT_EQ(x.disk.cursor, 11u);
  EXPECT_EQ(x.disk.life, stream_life::settled);
  x.crash();
  EXPECT_EQ(x.disk.life, stream_life::running);
  x.take({12, 13});
  EXPECT_THAT(x.take_forwarded(), ElementsAre(12, 13));
  x.crash(); // This life made no progress.
  EXPECT_EQ(x.disk.life, stream_life::careful);
}

// Only what is on disk is progress: each time, a frame that ends the process
// may be reached within one interval.
TEST(careful_stream, a_cursor_that_moved_only_in_memory_is_no_progress) {
  crashing_stream x;
  x.take({11, 12});
  x.done(11);
  EXPECT_EQ(x.disk.cursor, 10u);
  x.crash();
  EXPECT_EQ(x.disk.life, stream_life::careful);
}

TEST(careful_stream, progress_before_the_frame_in_hand_does_not_end_the_care) {
  crashing_stream x;
  x.crash();
  x.take({11, 12});
  x.done(11);
  EXPECT_EQ(x.disk.cursor, 11u);
  x.crash();
  EXPECT_EQ(x.disk.life, stream_life::careful);
  EXPECT_EQ(x.disk.ends, 1u);
}

// Whatever ends the process repeatedly, it was not the frame that was handled
// last.
TEST(careful_stream, a_life_that_got_past_it_is_followed_by_a_usual_one) {
  crashing_stream x;
  x.crash();
  x.take({11, 12});
  x.crash();
  EXPECT_EQ(x.disk.ends, 1u);
  x.take({11, 12});
  x.done(11);
  x.take_forwarded();
  EXPECT_EQ(x.disk.suspect, 12u) << "this life goes on carefully";
  x.crash();
  EXPECT_EQ(x.disk.life, stream_life::running);
  EXPECT_EQ(x.disk.suspect, 0u);
}

TEST(careful_stream, after_a_crash_each_frame_is_durable_before_its_turn) {
  crashing_stream x;
  x.crash();
  EXPECT_EQ(x.disk.life, stream_life::careful);
  const auto first = x.now->take_seqs({11, 12});
  EXPECT_THAT(first.forward, IsEmpty());
  ASSERT_TRUE(first.write);
  EXPECT_EQ(first.write->suspect, 11u);
  x.write(first);
  EXPECT_THAT(x.take_forwarded(), ElementsAre(11));
  x.done(11);
  EXPECT_EQ(x.disk.cursor, 11u);
  EXPECT_EQ(x.disk.suspect, 12u);
  EXPECT_THAT(x.take_forwarded(), ElementsAre(12));
  x.done(12);
  EXPECT_EQ(x.disk.suspect, 0u);
}

TEST(careful_stream, a_crash_with_nothing_in_hand_blames_no_frame) {
  crashing_stream x;
  for (size_t i = 0; i < 2 * limits::poison_frame_ends_max; ++i) {
    x.crash();
    x.take({11});
    x.done(11);
    x.disk.cursor = 10; // The host repeats it nevertheless.
    x.crash();
    EXPECT_EQ(x.disk.ends, 0u);
  }
}

TEST(careful_stream, a_frame_is_stepped_over_after_so_many_ends_with_it) {
  crashing_stream x;
  for (size_t i = 0; i < limits::poison_frame_ends_max; ++i) {
    x.crash();
    EXPECT_EQ(x.disk.ends, i);
    x.take({11, 12});
    ASSERT_EQ(x.forwarded.size(), 1u);
    EXPECT_EQ(x.forwarded[0].kind, atproto::frame_kind::account);
    EXPECT_THAT(x.alerts, IsEmpty());
  }
  x.crash();
  x.take({11, 12});
  ASSERT_EQ(x.forwarded.size(), 1u);
  EXPECT_EQ(x.forwarded[0].at.seq, 11u);
  EXPECT_EQ(x.forwarded[0].kind, atproto::frame_kind::unknown);
  EXPECT_EQ(x.forwarded[0].bytes.size(), 0u);
  EXPECT_EQ(x.forwarded[0].repo, test_did());
  ASSERT_EQ(x.alerts.size(), 1u);
  EXPECT_THAT(x.alerts[0], testing::HasSubstr("skipped seq 11 of"));
  EXPECT_EQ(x.now->machine.counters().skipped_poison, 1u);
  x.take_forwarded();
  x.done(11);
  EXPECT_THAT(x.forwarded.at(0).kind, atproto::frame_kind::account);
  EXPECT_EQ(x.disk.suspect, 12u);
  EXPECT_EQ(x.disk.ends, 0u) << "the next is not to blame";
}

TEST(careful_stream, a_frame_that_gets_through_is_forgiven) {
  crashing_stream x;
  x.crash();
  x.take({11});
  x.crash();
  EXPECT_EQ(x.disk.ends, 1u);
  x.take({11, 12});
  x.done(11);
  EXPECT_EQ(x.disk.suspect, 12u);
  EXPECT_EQ(x.disk.ends, 0u) << "the next is not to blame";
  x.crash();
  EXPECT_EQ(x.disk.suspect, 0u);
}

// limits::upstream_frames_max
TEST(careful_stream, care_ends_when_all_that_was_in_flight_is_through) {
  crashing_stream x;
  x.crash();
  uint64_t seq = 10;
  for (size_t i = 0; i < limits::upstream_frames_max; ++i) {
    EXPECT_EQ(x.disk.life, stream_life::careful);
    x.take({static_cast<int64_t>(++seq)});
    x.done(seq);
  }
  EXPECT_EQ(x.disk.life, stream_life::running);
  x.take_forwarded();
  x.take({static_cast<int64_t>(seq + 1), static_cast<int64_t>(seq + 2)});
  EXPECT_EQ(x.take_forwarded().size(), 2u);
}

// limits::careful_time_max
TEST(careful_stream, care_ends_after_a_minute_whatever_waits) {
  crashing_stream x;
  x.crash();
  x.take({11, 12, 13});
  EXPECT_THAT(x.take_forwarded(), ElementsAre(11));
  x.write(x.now->machine.on_timer(t0 + (limits::careful_time_max - 1us)));
  EXPECT_THAT(x.take_forwarded(), IsEmpty());
  x.write(x.now->machine.on_timer(t0 + limits::careful_time_max));
  EXPECT_THAT(x.take_forwarded(), ElementsAre(12, 13));
  EXPECT_EQ(x.disk.life, stream_life::running);
  EXPECT_EQ(x.disk.suspect, 0u);
}

TEST(careful_stream, what_is_lost_inside_comes_again_and_has_its_turn) {
  crashing_stream x;
  x.crash();
  x.take({11, 12});
  x.take_forwarded();
  x.write(x.now->machine.on_lost(t0));
  x.now->reopen();
  x.take({11, 12});
  EXPECT_THAT(x.take_forwarded(), ElementsAre(11));
}

// CONS-15: the stamp must be durable before the frame is handled, and so must
// the suspect
TEST(careful_stream, a_new_stamp_and_a_suspect_are_both_durable_first) {
  crashing_stream x;
  x.disk = row_at(0, 0);
  x.disk.life = stream_life::running;
  x.crash();
  const auto first = x.now->take_seqs({5, 6});
  EXPECT_THAT(first.forward, IsEmpty());
  x.write(first);
  EXPECT_THAT(x.take_forwarded(), ElementsAre(5));
  EXPECT_EQ(x.disk.first_cursor, 5u);
  EXPECT_EQ(x.disk.suspect, 5u);
}

TEST(careful_stream, a_word_of_another_frame_releases_none) {
  crashing_stream x;
  x.crash();
  x.take({11, 12});
  x.take_forwarded();
  x.done(12); // It waits for its turn.
  EXPECT_THAT(x.take_forwarded(), IsEmpty());
  EXPECT_EQ(x.disk.suspect, 11u);
}

} // namespace
} // namespace weir::tests
