#include "tests/unit/actors/upstream_stream.hpp"

#include <algorithm>

// Frames that cannot be read (protocol-coverage.md 1.6).
namespace weir::tests {

// limits::bad_frames_skipped_min, limits::bad_frames_skipped_max: a host that
// sends nothing else costs little, and fills no log
TEST(upstream_machine, each_connection_steps_over_more_bad_frames) {
  stream x;
  for (size_t i = 1; i < limits::bad_frame_tries_max; ++i) {
    x.take({garbage()});
    x.reopen();
  }
  size_t alerts = 0;
  size_t before = 0;
  for (int connection = 0; connection < 9; ++connection) {
    const auto most = std::min(limits::bad_frames_skipped_min + before,
                               limits::bad_frames_skipped_max);
    for (size_t i = 0; i < most; ++i) {
      const auto out = x.take({garbage()});
      ASSERT_FALSE(out.disconnect) << connection << ' ' << i;
      alerts += out.alerts.size();
    }
    EXPECT_TRUE(x.take({garbage()}).disconnect) << connection;
    x.reopen();
    before += most + 1;
  }
  EXPECT_EQ(alerts, 1u) << "besides the one at each end";
  x.take_seqs({11});
  for (size_t i = 1; i < limits::bad_frame_tries_max; ++i) {
    x.take({garbage()});
    x.reopen();
  }
  for (size_t i = 0; i < limits::bad_frames_skipped_min; ++i)
    ASSERT_FALSE(x.take({garbage()}).disconnect) << i;
  EXPECT_TRUE(x.take({garbage()}).disconnect);
}

// What was in the frame is not known, so whatever it was may be missing. Two
// that follow each other count twice, also when nothing came between them.
TEST(upstream_machine, each_bad_frame_that_is_skipped_counts_as_a_reset) {
  stream x;
  const auto epoch = x.machine.row().epoch;
  for (size_t i = 1; i < limits::bad_frame_tries_max; ++i) {
    x.take({garbage()});
    x.reopen();
  }
  EXPECT_EQ(x.machine.counters().resets, 0u) << "none was skipped yet";
  x.take({garbage(), garbage()});
  x.take_seqs({11});
  EXPECT_EQ(x.machine.counters().skipped_bad, 2u);
  EXPECT_EQ(x.machine.counters().resets, 2u);
  EXPECT_EQ(x.machine.row().epoch, epoch + 2);
  EXPECT_EQ(x.machine.row().cursor, 10u) << "the position stays";
}

} // namespace weir::tests
