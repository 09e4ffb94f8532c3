#include "actors/repo/document_wait.hpp"
#include "actors/repo/limits.hpp"
#include "actors/repo/refetch_plan.hpp"
#include "actors/repo/refresh_pace.hpp"

#include <gtest/gtest.h>

namespace weir::actors {
namespace {

using namespace std::chrono_literals;

account_sources::saying word_of(uint32_t upstream, uint64_t seq) {
  return {storage::account_status::deactivated, {upstream, 1, seq}};
}

uint64_t taken(document_wait& x, uint32_t upstream) {
  const auto word = x.take_word([=](uint32_t y) { return y == upstream; });
  return word ? word->at.seq : 0;
}

// protocol-coverage.md 4.1: the last statement of each host counts
TEST(document_wait, the_last_word_of_the_hosts_stream_counts) {
  document_wait x;
  x.hold(word_of(1, 10));
  x.hold(word_of(2, 20));
  x.hold(word_of(1, 11));
  EXPECT_EQ(taken(x, 3), 0u);
  EXPECT_EQ(taken(x, 1), 11u);
  EXPECT_EQ(taken(x, 1), 0u);
  x.hold(word_of(2, 21));
  x.forget_word(2);
  EXPECT_EQ(taken(x, 2), 0u);
}

// limits::held_words_max, and one more
TEST(document_wait, a_word_too_many_takes_the_place_of_the_oldest) {
  document_wait x;
  for (uint32_t i = 1; i <= limits::held_words_max; ++i)
    x.hold(word_of(i, i));
  EXPECT_FALSE(x.regrets());
  x.hold(word_of(99, 99));
  EXPECT_TRUE(x.regrets()) << "it may have been the host's";
  EXPECT_EQ(taken(x, 1), 0u);
  EXPECT_EQ(taken(x, 2), 2u);
  EXPECT_EQ(taken(x, 99), 99u);
}

// protocol-coverage.md 2.5.6: frames that were dropped without a check lead to
// a fetch, checked ones do not
TEST(document_wait, frames_that_are_dropped_are_regretted) {
  document_wait x;
  x.keep_frames(7);
  x.keep_frames(8);
  EXPECT_EQ(x.from(), 7u);
  EXPECT_TRUE(x.open());
  EXPECT_TRUE(x.close());
  EXPECT_FALSE(x.open());
  EXPECT_FALSE(x.regrets());
  x.keep_frames(8);
  EXPECT_EQ(x.from(), 8u);
  x.drop_frames();
  EXPECT_TRUE(x.open());
  EXPECT_FALSE(x.close());
  EXPECT_TRUE(x.regrets());
  x.settle();
  EXPECT_FALSE(x.regrets());
}

// protocol-coverage.md 2.5.9: `limits::refresh_burst_max`, and one more
TEST(refresh_pace, a_few_in_a_while_and_none_before_its_pause_is_over) {
  refresh_pace x;
  const steady_time now{1'000'000'000};
  for (size_t i = 0; i < limits::refresh_burst_max; ++i) {
    EXPECT_TRUE(x.may(now, 60s));
    x.spend(now);
  }
  EXPECT_FALSE(x.may(now, 60s));
  EXPECT_EQ(x.due(60s), now + 60s);
  EXPECT_TRUE(x.may(now + 60s, 60s));
  x.failed(now + 90s);
  EXPECT_TRUE(x.failing());
  EXPECT_FALSE(x.may(now + 60s, 60s));
  EXPECT_EQ(x.due(60s), now + 90s);
  x.answered();
  EXPECT_FALSE(x.failing());
  EXPECT_TRUE(x.may(now + 60s, 60s));
}

// completeness.md, The terms; limits::gap_pause_min, limits::gap_pause_max:
// just before and at the end
TEST(refetch_plan, gaps_without_end_are_fetched_less_and_less) {
  refetch_plan x;
  steady_time now{1'000'000'000};
  auto pause = std::chrono::microseconds{limits::gap_pause_min};
  x.open_gap(now);
  EXPECT_EQ(x.gap_due(), now) << "the first one at once";
  for (int i = 0; i < 10; ++i) {
    x.spend_gap(now);
    x.open_gap(now);
    ASSERT_TRUE(x.gap_due());
    EXPECT_EQ(*x.gap_due() - now, pause);
    now = *x.gap_due();
    pause = std::min<std::chrono::microseconds>(2 * pause,
                                                limits::gap_pause_max);
  }
  EXPECT_EQ(pause, limits::gap_pause_max);
  x.close_gap();
  EXPECT_FALSE(x.gap_due());
  now = now + 2 * limits::gap_pause_max + 1us;
  x.open_gap(now);
  EXPECT_EQ(x.gap_due(), now) << "after a long time without one";
}

// The events of a well-behaved account follow on what is there, and close its
// gaps.
TEST(refetch_plan, gaps_that_were_closed_put_nothing_off) {
  refetch_plan x;
  const steady_time now{1'000'000'000};
  x.open_gap(now);
  x.spend_gap(now);
  for (int i = 0; i < 10; ++i) {
    x.open_gap(now + 1s);
    EXPECT_EQ(x.gap_due(), now + limits::gap_pause_min);
    x.close_gap();
  }
}

// protocol-coverage.md 5.3; limits::listed_rev_tries_max, and one more: a
// host's answer outweighs a listing, but never a signature
TEST(needed_rev, a_fetch_has_to_bring_what_was_missed) {
  storage::repo_row x;
  EXPECT_FALSE(needed_rev::least(x).defined());
  needed_rev::require(x, atproto::tid{7}, true);
  needed_rev::require(x, atproto::tid{9}, false);
  needed_rev::require(x, atproto::tid{8}, false);
  x.retry_count = limits::listed_rev_tries_max - 1;
  EXPECT_EQ(needed_rev::least(x), atproto::tid{9});
  x.retry_count = limits::listed_rev_tries_max;
  EXPECT_EQ(needed_rev::least(x), atproto::tid{7});
  x.retry_count = 0;
  needed_rev::settle(x);
  EXPECT_FALSE(needed_rev::least(x).defined());
}

} // namespace
} // namespace weir::actors
