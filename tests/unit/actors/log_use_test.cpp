#include "actors/consumer/log_use.hpp"

#include <gtest/gtest.h>

// ADR 35: whether a consumer still needs a part of the log.
namespace weir::actors {

TEST(log_use, a_consumer_that_was_never_sent_anything_needs_nothing) {
  log_use x{false, 1};
  EXPECT_FALSE(x.begun());
  EXPECT_TRUE(x.may_read());
}

TEST(log_use, the_first_client_waits_for_an_answer_and_later_ones_do_not) {
  log_use x{false, 1};
  EXPECT_TRUE(x.on_client());
  EXPECT_FALSE(x.may_read());
  EXPECT_TRUE(x.begun()) << "nothing more is trimmed meanwhile";
  EXPECT_FALSE(x.on_client()) << "it was asked already";
  x.on_answer(9);
  EXPECT_EQ(x.current_before(), 9u);
  EXPECT_TRUE(x.may_read());
  EXPECT_FALSE(x.on_client());
}

TEST(log_use, one_that_has_acked_needs_what_it_has_not_acked) {
  log_use x{true, 7};
  EXPECT_TRUE(x.begun());
  EXPECT_FALSE(x.on_client());
  EXPECT_TRUE(x.may_read());
  EXPECT_EQ(x.current_before(), 7u) << "since an earlier life";
}

} // namespace weir::actors
