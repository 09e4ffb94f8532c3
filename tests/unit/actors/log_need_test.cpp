#include "actors/consumer/log_need.hpp"

#include <gtest/gtest.h>

// ADR 35: which part of the log a consumer still needs.
namespace weir::actors {

TEST(log_need, a_consumer_that_was_never_sent_anything_needs_nothing) {
  log_need x{0, false};
  EXPECT_EQ(x.after(0), UINT64_MAX);
  EXPECT_TRUE(x.may_read());
}

TEST(log_need, the_first_client_waits_for_an_answer_and_later_ones_do_not) {
  log_need x{0, false};
  EXPECT_TRUE(x.on_client());
  EXPECT_FALSE(x.may_read());
  EXPECT_EQ(x.after(0), 0u) << "nothing more is trimmed meanwhile";
  EXPECT_FALSE(x.on_client()) << "it was asked already";
  x.on_answer();
  EXPECT_TRUE(x.may_read());
  EXPECT_FALSE(x.on_client());
}

TEST(log_need, one_that_has_acked_needs_what_follows_its_position) {
  log_need x{7, true};
  EXPECT_FALSE(x.on_client());
  EXPECT_TRUE(x.may_read());
  EXPECT_EQ(x.after(7), 7u);
}

TEST(log_need, an_ack_counts_when_its_row_is_durable) {
  log_need x{7, true};
  EXPECT_EQ(x.after(20), 7u);
  x.on_write(20);
  EXPECT_EQ(x.after(25), 7u);
  x.on_durable();
  EXPECT_EQ(x.after(25), 20u);
}

TEST(log_need, an_event_that_is_opened_again_is_needed_at_once) {
  log_need x{20, true};
  EXPECT_EQ(x.after(11), 11u);
}

} // namespace weir::actors
