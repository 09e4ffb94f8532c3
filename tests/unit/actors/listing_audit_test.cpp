#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_claims.hpp"
#include "actors/support/limits.hpp"
#include "tests/unit/actors/listing_run.hpp"

#include <gmock/gmock.h>

// The times at which an upstream is listed again.
namespace weir::tests {
namespace {

// hostile-inputs.md 2.1.29: a complete listing is repeated as often as the
// requests an hour permit
// limits::listing_requests_range
TEST(listing_machine, an_upstream_is_listed_again_after_the_interval) {
  listing_run x;
  x.want();
  x.page("c1");
  x.page("");
  ASSERT_TRUE(x.last.timer);
  EXPECT_EQ(*x.last.timer - listing_start, audit_interval(2));
  EXPECT_LT(audit_interval(2), 5min) << "a thousand repos, and an empty page";
  x.pass(audit_interval(2) - 1us);
  EXPECT_FALSE(x.tick());
  x.pass(1us);
  ASSERT_TRUE(x.tick());
  EXPECT_EQ(x.last.fetch->cursor, "");
}

// limits::listing_pause_range: the option makes audits rarer, and nothing else
TEST(listing_machine, a_short_listing_waits_for_the_pause) {
  listing_options options;
  options.pause = 1h;
  listing_run x{options};
  x.want();
  x.page("");
  EXPECT_EQ(*x.last.timer - listing_start, options.pause);
  x.pass(options.pause - 1us);
  EXPECT_FALSE(x.tick());
  x.pass(1us);
  ASSERT_TRUE(x.tick());
  x.page("");
  x.want_later({1, 2, 1});
  x.page("");
}

// A rev beyond the clock was not accepted while it was behind.
TEST(listing_machine, a_clock_that_was_set_has_all_compared_once_more) {
  listing_run x;
  x.want();
  x.page("");
  EXPECT_FALSE(x.take(x.machine.on_clock_set(x.now, x.wall)));
  ASSERT_TRUE(x.last.timer);
  EXPECT_EQ(*x.last.timer - x.now, listing_grace) << "its stream has a moment";
  x.pass(listing_grace);
  ASSERT_TRUE(x.tick());
  EXPECT_EQ(x.last.fetch->cursor, "");
  x.page("");
  x.pass(listing_grace);
  EXPECT_FALSE(x.tick()) << "once";
}

// The rest has another reason: its host asked for it, or its listing was mostly
// wrong.
TEST(listing_machine, a_clock_that_was_set_ends_no_rest) {
  listing_run x;
  x.want();
  x.mistrust("");
  ASSERT_GT(limits::listing_mistrust_min, listing_grace);
  EXPECT_FALSE(x.take(x.machine.on_clock_set(x.now, x.wall)));
  x.pass(limits::listing_mistrust_min - 1us);
  EXPECT_FALSE(x.tick());
  x.pass(1us);
  EXPECT_TRUE(x.tick());
}

// Its first pages may have been compared with the former clock.
TEST(listing_machine, a_listing_under_way_when_the_clock_is_set_comes_again) {
  listing_run x;
  x.want();
  x.page("c1");
  EXPECT_FALSE(x.take(x.machine.on_clock_set(x.now, x.wall)));
  ASSERT_TRUE(x.page("c2"));
  EXPECT_EQ(x.last.fetch->cursor, "c2") << "it goes on";
  ASSERT_TRUE(x.page(""));
  EXPECT_EQ(x.last.fetch->cursor, "");
  EXPECT_FALSE(x.page(""));
}

// The pause is never longer than the interval.
TEST(listing_machine, a_pause_beyond_the_interval_is_the_interval) {
  listing_options options;
  options.interval = 2h;
  options.pause = 3h;
  listing_run x{options};
  x.want();
  x.page("");
  EXPECT_EQ(*x.last.timer - listing_start, options.interval);
}

// ADR 20, 1: it is repeated every 24 hours, whatever it costs
TEST(listing_machine, a_long_listing_comes_again_after_a_day) {
  listing_run x;
  x.want();
  for (size_t i = 0; i < 3'000; ++i)
    x.page("c" + std::to_string(i));
  x.page("");
  EXPECT_EQ(*x.last.timer - listing_start, 24h);
}

// The wall clock may have been set meanwhile: no wait depends on it.
TEST(listing_machine, an_audit_waits_by_the_monotonic_clock) {
  listing_run x;
  x.want();
  x.page("");
  x.wall = wall_time{1};
  x.pass(audit_interval(1));
  EXPECT_TRUE(x.tick());
}

// While the stream is behind, most repos would differ from the listing.
TEST(listing_machine, an_audit_waits_for_a_stream_that_lags_behind) {
  listing_run x;
  x.want();
  x.page("");
  x.stream.quiet_since.reset();
  x.board->put(x.stream);
  x.pass(audit_interval(1));
  const auto due = x.wall;
  EXPECT_FALSE(x.tick());
  ASSERT_TRUE(x.last.timer);
  EXPECT_EQ(*x.last.timer - x.now, limits::listing_wait_step);
  x.pass(1min);
  EXPECT_FALSE(x.tick());
  x.stream.passed = due;
  x.board->put(x.stream);
  x.pass(1s);
  EXPECT_TRUE(x.tick());
}

// limits::listing_wait_max
TEST(listing_machine, an_audit_waits_for_no_stream_longer_than_an_hour) {
  listing_run x;
  x.want();
  x.page("");
  x.stream.connected = false;
  x.board->put(x.stream);
  x.pass(audit_interval(1));
  EXPECT_FALSE(x.tick());
  x.pass(limits::listing_wait_max - 1us);
  EXPECT_FALSE(x.tick());
  x.pass(1us);
  EXPECT_TRUE(x.tick());
}

// Changes during the node's downtime, in repos that stay quiet, are not found
// otherwise.
TEST(listing_machine, a_start_lists_once_and_then_by_interval) {
  listing_run x;
  x.want();
  x.page("");
  auto y = x.restarted();
  ASSERT_TRUE(y.want_later());
  EXPECT_EQ(y.last.fetch->cursor, "");
  y.page("");
  EXPECT_FALSE(y.want()) << "the stream was opened again";
  y.pass(audit_interval(1) - 1us);
  EXPECT_FALSE(y.tick());
  y.pass(1us);
  EXPECT_TRUE(y.tick());
}

// Such a stream always connects without a cursor. Only a listing finds what it
// missed until then.
TEST(listing_machine, a_stream_without_a_position_is_listed_each_time) {
  constexpr position nowhere{1, 1, 0};
  listing_run x;
  ASSERT_TRUE(x.want(nowhere));
  x.page("c1");
  auto y = x.restarted();
  ASSERT_TRUE(y.want_later(nowhere));
  EXPECT_EQ(y.last.fetch->cursor, "") << "what was compared is so no more";
  y.page("");
  ASSERT_TRUE(y.want_later(nowhere)) << "it was opened again";
  EXPECT_FALSE(y.want(nowhere)) << "and again";
  ASSERT_TRUE(y.page("c1"));
  EXPECT_EQ(y.last.fetch->cursor, "c1") << "first this one comes to its end";
  ASSERT_TRUE(y.page(""));
  EXPECT_EQ(y.last.fetch->cursor, "");
  EXPECT_FALSE(y.page(""));
}

// protocol-coverage.md 1.12: events are lost repeatedly before it is read
TEST(listing_machine, one_that_waits_for_its_stream_is_not_put_off_again) {
  listing_run x;
  x.want();
  x.page("");
  x.want({1, 2, 1});
  x.pass(listing_grace / 2);
  x.want({1, 3, 1});
  x.pass(listing_grace / 2);
  ASSERT_TRUE(x.tick());
  EXPECT_EQ(x.last.fetch->cursor, "");
  x.page("");
  EXPECT_TRUE(x.machine.is_compared(x.all, 3));
}

// protocol-coverage.md 1.12: events are lost repeatedly while it is read
TEST(listing_machine, one_that_was_begun_again_comes_to_its_end_first) {
  listing_run x;
  x.want();
  ASSERT_TRUE(x.page("c1"));
  for (uint32_t epoch = 2; epoch < 5; ++epoch) {
    x.want({1, epoch, 1});
    const auto is_first = epoch == 2;
    ASSERT_TRUE(x.page("c" + std::to_string(epoch)));
    EXPECT_EQ(x.last.fetch->cursor.empty(), is_first) << epoch;
  }
  ASSERT_TRUE(x.page("")) << "it was missed what came since";
  EXPECT_EQ(x.last.fetch->cursor, "");
  EXPECT_FALSE(x.machine.is_compared(x.all, 4));
  x.page("");
  EXPECT_TRUE(x.machine.is_compared(x.all, 4));
}

TEST(listing_machine, so_does_one_whose_pages_fail) {
  listing_run x;
  x.want();
  ASSERT_TRUE(x.page("c1"));
  x.want({1, 2, 1});
  ASSERT_TRUE(x.page("c2")) << "it begins again";
  ASSERT_TRUE(x.page("c3"));
  x.want({1, 3, 1});
  x.fail_page(ec::unreachable);
  x.pass(1h);
  ASSERT_TRUE(x.tick());
  EXPECT_EQ(x.last.fetch->cursor, "c3");
  ASSERT_TRUE(x.page(""));
  EXPECT_EQ(x.last.fetch->cursor, "");
}

// limits::listing_mistrust_min
TEST(listing_machine, a_listing_that_is_not_trusted_goes_on_after_a_rest) {
  listing_options options;
  // The rest is longer than the budget requires.
  options.requests_per_hour = 3'600;
  listing_run x{options};
  x.want();
  std::vector<std::chrono::microseconds> rests;
  for (int i = 0; i < 3; ++i) {
    const auto cursor = "c" + std::to_string(i);
    EXPECT_FALSE(x.mistrust(cursor));
    rests.push_back(*x.last.timer - x.now);
    EXPECT_FALSE(x.want({1, 9, 0})) << "whatever the host does";
    x.pass(rests.back() - 1us);
    EXPECT_FALSE(x.tick());
    x.pass(1us);
    ASSERT_TRUE(x.tick());
  }
  const std::chrono::seconds least = limits::listing_mistrust_min;
  EXPECT_THAT(rests, testing::ElementsAre(least, 2 * least, 4 * least));
  x.page("c9");
  x.mistrust("");
  EXPECT_EQ(*x.last.timer - x.now, least) << "a page was good";
}

// limits::claim_retry: the same page is requested soon, and again not much
// later
TEST(listing_machine, a_page_that_the_directory_did_not_prove_comes_again) {
  listing_options options;
  options.requests_per_hour = 3'600;
  listing_run x{options};
  x.want();
  x.page("c1");
  std::vector<std::chrono::microseconds> rests;
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(x.unproved());
    rests.push_back(*x.last.timer - x.now);
    x.pass(rests.back());
    ASSERT_TRUE(x.tick());
    EXPECT_EQ(x.last.fetch->cursor, "c1");
  }
  const std::chrono::seconds least = limits::claim_retry;
  const std::chrono::seconds most = limits::listing_mistrust_min;
  EXPECT_THAT(rests, testing::ElementsAre(least, 2 * least, 4 * least, most,
                                          most));
  ASSERT_TRUE(x.page("c2"));
  EXPECT_EQ(x.last.fetch->cursor, "c2");
  x.unproved();
  EXPECT_EQ(*x.last.timer - x.now, least) << "a page was good";
}

TEST(listing_machine, a_page_without_room_for_its_claims_comes_again) {
  listing_run x;
  x.want();
  x.page("c1");
  EXPECT_FALSE(x.judge({.what = x.all, .has_room = false}, "c2"));
  EXPECT_EQ(*x.last.timer - x.now, limits::listing_retry_min);
  x.pass(limits::listing_retry_min);
  ASSERT_TRUE(x.tick());
  EXPECT_EQ(x.last.fetch->cursor, "c1");
  EXPECT_TRUE(x.judge({.what = x.all}, "c2")) << "it is trusted";
  EXPECT_EQ(x.last.fetch->cursor, "c2");
}

TEST(listing_machine, a_listing_is_blamed_only_for_what_the_directory_proves) {
  EXPECT_FALSE((page_verdict{.what = {1, {}}}.blames()));
  EXPECT_TRUE((page_verdict{.what = {1, {}}, .trusted = false}.blames()));
  EXPECT_FALSE((
    page_verdict{.what = {1, {}}, .trusted = false, .proved = false}.blames()));
  EXPECT_FALSE((page_verdict{.what = {1, {}}, .has_room = false}.blames()));
}

// CONS-24: a reset happens during the rest
TEST(listing_machine, what_rests_begins_anew_when_events_were_missed) {
  for (const auto is_proved : {false, true}) {
    listing_run x;
    x.want();
    x.page("c1");
    EXPECT_FALSE(x.want({1, 2, 50}));
    is_proved ? x.mistrust("c2") : x.unproved();
    x.pass(limits::listing_mistrust_min);
    ASSERT_TRUE(x.tick());
    EXPECT_EQ(x.last.fetch->cursor, "") << is_proved;
    x.page("c1");
    EXPECT_EQ(x.stored->noted, (position{1, 2, 50}));
  }
}

} // namespace
} // namespace weir::tests
