#include "tests/unit/actors/upstream_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Streams without any event: they, too, prove that nothing happened
// (completeness.md, The terms).

namespace weir::actors {
namespace {

using namespace weir::tests;

} // namespace

// CONS-05, CONS-11: from the time when it is open and its row is durable
TEST(upstream_whole, a_stream_that_is_silent_since_first_contact_is_live) {
  upstream_machine x{row_at(0, 0), {}};
  x.start(t0);
  EXPECT_FALSE(x.whole());
  const auto opened = x.on_open(t0);
  EXPECT_FALSE(opened.list_repos);
  ASSERT_TRUE(opened.write);
  EXPECT_TRUE(opened.write->reset_pending);
  EXPECT_EQ(opened.write->epoch, 1u);
  EXPECT_FALSE(x.live());
  EXPECT_TRUE(x.on_row_durable(t0).list_repos);
  EXPECT_TRUE(x.whole());
  EXPECT_TRUE(x.live());
}

// Events between two connections without a cursor are lost.
TEST(upstream_whole, another_connection_without_a_cursor_is_another_epoch) {
  stream x{row_at(0, 0)};
  x.machine.on_closed({1, fail(ec::unreachable), 0, 0s}, 0, t0);
  EXPECT_FALSE(x.machine.whole());
  const auto opened = x.machine.on_open(t0);
  ASSERT_TRUE(opened.write);
  EXPECT_EQ(opened.write->epoch, 2u);
  EXPECT_FALSE(x.machine.whole());
  EXPECT_TRUE(x.machine.on_row_durable(t0).list_repos);
  EXPECT_TRUE(x.machine.whole());
  EXPECT_FALSE(redial_cursor(x, t0)); // It still connects without a cursor.
}

TEST(upstream_whole, so_is_that_of_another_process) {
  stream x{row_at(0, 0)};
  stream next{x.machine.row()};
  EXPECT_EQ(next.opened.write->epoch, 2u);
  EXPECT_FALSE(next.first.connect->cursor);
}

// A life that ended before its first connection has proved nothing.
TEST(upstream_whole, a_row_that_is_not_durable_proves_nothing) {
  upstream_machine x{row_at(0, 0), {}};
  x.start(t0);
  x.on_open(t0);
  x.on_closed({1, fail(ec::unreachable), 0, 0s}, 0, t0);
  x.on_row_durable(t0); // This is the row of the first connection.
  EXPECT_FALSE(x.whole());
  x.on_open(t0);
  EXPECT_FALSE(x.whole());
  x.on_row_durable(t0);
  EXPECT_TRUE(x.whole());
  EXPECT_EQ(x.row().epoch, 2u);
}

// The first event has a position in the same epoch.
TEST(upstream_whole, what_was_proved_before_the_first_event_stays_so) {
  stream x{row_at(0, 0)};
  const position noted{7, x.machine.row().epoch, 0};
  x.take_seqs({500});
  x.machine.on_row_durable(t0);
  const position since{7, x.machine.row().epoch, 500};
  EXPECT_TRUE(x.machine.live());
  EXPECT_TRUE(noted.covers(since));
  EXPECT_FALSE(noted.reaches(since));
  EXPECT_FALSE((position{7, since.epoch, 499}.covers(since)));
  EXPECT_FALSE((position{8, since.epoch, 0}.covers(since)));
  EXPECT_FALSE((position{7, since.epoch - 1, 0}.covers(since)));
  EXPECT_FALSE(position{}.covers(since));
}

// CONS-15: after an #info the epoch is complete before its first event
TEST(upstream_whole, a_reset_on_an_open_connection_is_whole_when_it_is_durable) {
  stream x;
  x.take({info_frame("OutdatedCursor")});
  EXPECT_FALSE(x.machine.whole());
  x.machine.on_row_durable(t0);
  EXPECT_TRUE(x.machine.whole());
}

// completeness.md, The terms: seqs that begin anew do so with the next
// connection
TEST(upstream_whole, a_future_cursor_is_whole_when_it_was_asked_from_the_oldest) {
  stream x;
  x.take({error_frame("FutureCursor")});
  x.machine.on_row_durable(t0);
  EXPECT_FALSE(x.machine.whole());
  EXPECT_EQ(redial_cursor(x, t0), 0u);
  const auto opened = x.machine.on_open(t0);
  EXPECT_FALSE(opened.write) << "it is durable";
  EXPECT_TRUE(opened.list_repos);
  EXPECT_TRUE(x.machine.whole());
  EXPECT_EQ(x.machine.row().epoch, 2u);
  stream next{x.machine.row()};
  EXPECT_EQ(next.first.connect->cursor, 0u);
}

} // namespace weir::actors
