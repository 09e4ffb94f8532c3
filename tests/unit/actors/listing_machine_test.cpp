#include "actors/supervisor/limits.hpp"
#include "tests/unit/actors/listing_run.hpp"

#include <gmock/gmock.h>

namespace weir::tests {
namespace {

// SYNC-19; protocol-coverage.md 9.1
TEST(listing_machine, pages_follow_each_other_until_there_is_no_cursor) {
  listing_run x;
  ASSERT_TRUE(x.want());
  EXPECT_EQ(x.last.fetch->what, x.all);
  EXPECT_EQ(x.last.fetch->cursor, "");
  ASSERT_TRUE(x.page("c1"));
  EXPECT_EQ(x.last.fetch->cursor, "c1");
  EXPECT_FALSE(x.page(""));
  EXPECT_TRUE(x.last.finished);
  EXPECT_EQ(x.machine.finished(), 1u);
}

// storage-format.md 2: the cursor is kept
TEST(listing_machine, a_restart_goes_on_behind_the_last_page_that_was_taken) {
  listing_run x;
  x.want();
  x.page("c1");
  x.page("c2");
  auto y = x.restarted();
  ASSERT_TRUE(y.want());
  EXPECT_EQ(y.last.fetch->cursor, "c2");
  EXPECT_FALSE(y.page(""));
  EXPECT_TRUE(y.last.finished);
}

// CONS-24: after a reset every repo is compared, wherever the listing was
TEST(listing_machine, another_position_begins_it_anew) {
  for (const auto& pages :
       {std::vector<std::string>{"c1"}, std::vector<std::string>{"c1", ""}}) {
    listing_run x;
    x.want();
    for (const auto& cursor : pages)
      x.page(cursor);
    auto y = x.restarted();
    ASSERT_TRUE(y.want_later({1, 2, 50}));
    EXPECT_EQ(y.last.fetch->cursor, "");
    y.page("c9");
    EXPECT_EQ(y.stored->noted, (position{1, 2, 50}));
  }
}

// CONS-24: a reset during a listing
TEST(listing_machine, a_reset_during_a_listing_begins_it_anew) {
  listing_run x;
  x.want();
  x.page("c1");
  EXPECT_FALSE(x.want({1, 2, 0}));
  EXPECT_FALSE(x.want({1, 2, 50}));
  ASSERT_TRUE(x.page("c2"));
  EXPECT_EQ(x.last.fetch->cursor, "");
  EXPECT_FALSE(x.page(""));
  EXPECT_EQ(x.stored->noted, (position{1, 2, 50}));
  EXPECT_EQ(x.machine.finished(), 1u);
}

// CONS-24
TEST(listing_machine, a_reset_before_a_page_that_fails_is_not_forgotten) {
  listing_run x;
  x.want();
  x.page("c1");
  EXPECT_FALSE(x.want({1, 2, 50}));
  x.fail_page(ec::unreachable);
  x.pass(limits::listing_retry_min);
  ASSERT_TRUE(x.tick());
  EXPECT_EQ(x.last.fetch->cursor, "");
  x.page("c2");
  EXPECT_EQ(x.stored->noted, (position{1, 2, 50}));
}

TEST(listing_machine, a_listing_that_waits_to_begin_anew_does_not_go_on) {
  listing_run x;
  x.want();
  x.page("c1");
  auto y = x.restarted();
  EXPECT_FALSE(y.want({1, 2, 50}));
  EXPECT_FALSE(y.want({1, 2, 50}));
  y.pass(listing_grace);
  ASSERT_TRUE(y.tick());
  EXPECT_EQ(y.last.fetch->cursor, "");
}

// completeness.md, The terms: two requests at one position count as one
TEST(listing_machine, a_second_wish_for_the_same_changes_nothing) {
  listing_run x;
  x.want();
  EXPECT_FALSE(x.want());
  EXPECT_TRUE(x.page("c1"));
  EXPECT_FALSE(x.page(""));
}

// protocol-coverage.md 9.2: a failed page is requested soon, at its cursor
TEST(listing_machine, a_failed_page_is_tried_again_at_its_cursor) {
  listing_run x;
  x.want();
  x.page("c1");
  EXPECT_FALSE(x.fail_page(ec::unreachable));
  ASSERT_TRUE(x.last.timer);
  EXPECT_EQ(*x.last.timer - x.now, limits::listing_retry_min);
  EXPECT_EQ(x.machine.finished(), 0u);
  x.pass(limits::listing_retry_min);
  ASSERT_TRUE(x.tick());
  EXPECT_EQ(x.last.fetch->cursor, "c1");
}

// protocol-coverage.md 9.2: up to `limits::listing_retry_max`, or as the budget
// permits, and from the start after a good page
TEST(listing_machine, the_wait_doubles_while_pages_fail) {
  listing_options options;
  options.requests_per_hour = 60;
  listing_run x{options};
  x.want();
  std::vector<std::chrono::microseconds> waits;
  for (int i = 0; i < 8; ++i) {
    x.fail_page(ec::unreachable);
    waits.push_back(*x.last.timer - x.now);
    x.pass(waits.back());
    ASSERT_TRUE(x.tick());
  }
  EXPECT_THAT(waits, testing::ElementsAre(1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s));
  EXPECT_EQ(waits.back(), limits::listing_retry_max);
  x.page("c1");
  x.fail_page(ec::unreachable);
  EXPECT_EQ(*x.last.timer - x.now, limits::listing_retry_min);
}

// protocol-coverage.md 9.2: a host may forget its own cursors; limits::
// listing_requests_range: each new run costs its requests
TEST(listing_machine, a_page_that_is_no_listing_begins_it_anew) {
  listing_run x;
  x.want();
  x.page("c1");
  x.fail_page(ec::malformed);
  const auto pause = 2 * 3600s / limits::listing_requests_range.standard;
  ASSERT_TRUE(x.last.timer);
  EXPECT_EQ(*x.last.timer - x.now, pause);
  x.pass(pause);
  ASSERT_TRUE(x.tick());
  EXPECT_EQ(x.last.fetch->cursor, "");
}

// protocol-coverage.md 9.2: a missing route is requested more and more rarely.
// It may be missing only at the proxy of a relay that is starting.
TEST(listing_machine, a_route_that_is_missing_is_tried_after_the_interval) {
  listing_run x;
  x.want();
  auto rest = std::chrono::duration_cast<std::chrono::microseconds>(
    limits::listing_retry_min);
  for (auto tries = 0; rest < 24h; ++tries, rest *= 2) {
    ASSERT_LT(tries, 30);
    EXPECT_FALSE(x.fail_page(ec::not_found));
    ASSERT_TRUE(x.last.timer);
    EXPECT_EQ(*x.last.timer - x.now, rest);
    EXPECT_EQ(x.machine.finished(), 0u);
    x.pass(*x.last.timer - x.now);
    EXPECT_TRUE(x.tick());
  }
  x.fail_page(ec::not_found);
  EXPECT_EQ(*x.last.timer - x.now, 24h);
}

// hostile-inputs.md 2.1.29: a cursor that comes twice
TEST(listing_machine, a_cursor_that_comes_twice_ends_the_listing) {
  listing_run x;
  x.want();
  EXPECT_TRUE(x.page("c1"));
  EXPECT_TRUE(x.page("c2"));
  EXPECT_FALSE(x.page("c1"));
  EXPECT_TRUE(x.last.finished);
  x.pass(audit_interval(3));
  EXPECT_TRUE(x.tick());
  EXPECT_TRUE(x.page("c1")); // The former cursors were forgotten with the run.
}

// hostile-inputs.md 2.1.29: `limits::listing_idle_pages_max` in a row, and one
// less
TEST(listing_machine, pages_without_a_repo_end_the_listing) {
  listing_run x;
  x.want();
  size_t n = 0;
  const auto idle = [&] {
    return x.page("c" + std::to_string(++n), 0);
  };
  for (size_t i = 1; i < limits::listing_idle_pages_max; ++i)
    EXPECT_TRUE(idle());
  EXPECT_TRUE(x.page("d", 1));
  for (size_t i = 1; i < limits::listing_idle_pages_max; ++i)
    EXPECT_TRUE(idle());
  EXPECT_FALSE(idle());
}

// hostile-inputs.md 2.1.29: a cursor that grows over the same repos
TEST(listing_machine, pages_with_the_same_repos_end_the_listing) {
  listing_run x;
  x.want();
  size_t n = 0;
  const auto print_page = [&](uint64_t print) {
    x.machine.on_lines(x.all, {print});
    return x.page("c" + std::to_string(++n));
  };
  EXPECT_TRUE(print_page(1));
  for (size_t i = 1; i < limits::listing_idle_pages_max; ++i)
    EXPECT_TRUE(print_page(1));
  EXPECT_TRUE(print_page(2));
  for (size_t i = 1; i < limits::listing_idle_pages_max; ++i)
    EXPECT_TRUE(print_page(1 + i % 2));
  EXPECT_FALSE(print_page(1));
  EXPECT_TRUE(x.last.finished);
  x.pass(24h);
  EXPECT_TRUE(x.tick());
  EXPECT_TRUE(print_page(1)); // The former lines were forgotten with the run.
  for (size_t i = 1; i < limits::listing_idle_pages_max; ++i)
    EXPECT_TRUE(print_page(1));
}

// hostile-inputs.md 2.1.29: `limits::listing_idle_pages_max`. There is no room
// for some pages, or the directory is wrong: they are requested again, which is
// not a repetition.
TEST(listing_machine, a_page_that_was_not_taken_is_no_repetition) {
  for (const auto has_room : {false, true}) {
    listing_run x;
    ASSERT_TRUE(x.want());
    for (uint64_t i = 0; i <= limits::listing_idle_pages_max; ++i) {
      x.machine.on_lines(x.all, {i});
      EXPECT_FALSE(has_room ? x.unproved()
                            : x.judge({.what = x.all, .has_room = false}, ""));
      x.pass(limits::listing_retry_max);
      ASSERT_TRUE(x.tick());
      x.machine.on_lines(x.all, {i});
      EXPECT_TRUE(x.page("c" + std::to_string(i))) << "after page " << i;
    }
    EXPECT_FALSE(x.page(""));
    EXPECT_TRUE(x.last.audited) << "it came to its end";
  }
}

// hostile-inputs.md 2.1.29: `limits::listing_pages_max`
TEST(listing_machine, a_listing_has_a_last_page) {
  listing_run x;
  x.want();
  auto next = [&x, i = uint64_t{0}]() mutable {
    x.machine.on_lines(x.all, {++i}); // Each page has a new DID.
    return x.page(std::to_string(i));
  };
  for (size_t i = 1; i < limits::listing_pages_max; ++i)
    ASSERT_TRUE(next()) << i;
  EXPECT_FALSE(next());
  EXPECT_TRUE(x.last.finished);
}

// docs/completeness.md: an audit is a listing that ran to its end
TEST(listing_machine, only_a_listing_that_names_all_is_an_audit) {
  listing_options options;
  options.pages_max = 3;
  for (const std::string cursor : {"", "c1", "c2"}) {
    listing_run x{options};
    x.want();
    EXPECT_TRUE(x.page("c1"));
    EXPECT_FALSE(x.last.audited);
    if (cursor == "c2") {
      EXPECT_TRUE(x.page(cursor));
    }
    EXPECT_FALSE(x.page(cursor == "c2" ? "c3" : cursor));
    EXPECT_TRUE(x.last.finished);
    EXPECT_EQ(x.last.audited, cursor.empty()) << cursor;
    EXPECT_EQ(x.last.cut_short, !cursor.empty()) << cursor;
    EXPECT_TRUE(x.machine.is_compared(x.all, 1)) << "nothing more will come";
  }
  listing_run refused;
  refused.want();
  refused.fail_page(ec::not_found);
  EXPECT_TRUE(refused.last.finished);
  EXPECT_FALSE(refused.last.audited);
  EXPECT_FALSE(refused.last.cut_short);
}

// storage-format.md 2: each upstream and collection has its own listing
TEST(listing_machine, listings_share_nothing) {
  const listing_id some{1, "app.test.note"};
  const listing_id other{2, {}};
  listing_run x;
  EXPECT_TRUE(x.want());
  EXPECT_TRUE(x.take(x.machine.on_wanted(some, {}, x.now, x.wall)));
  EXPECT_EQ(x.last.fetch->what, some);
  EXPECT_TRUE(x.take(x.machine.on_wanted(other, {2, 1, 1}, x.now, x.wall)));
  EXPECT_TRUE(x.page("c1"));
  EXPECT_TRUE(
    x.take(x.machine.on_page(some, std::string{"c1"}, 1, x.now)));
  EXPECT_FALSE(x.page(""));
  EXPECT_TRUE(
    x.take(x.machine.on_page(some, std::string{"c2"}, 1, x.now)));
  EXPECT_FALSE(x.page("c9")) << "its listing has ended";
  EXPECT_FALSE(
    x.take(x.machine.on_page({3, {}}, std::string{"c9"}, 1, x.now)));
}

// Two listings that are due begin one after the other
TEST(listing_machine, the_timer_comes_back_for_the_second_that_is_due) {
  listing_run x;
  for (const uint32_t upstream : {1u, 2u}) {
    const listing_id what{upstream, {}};
    x.machine.on_wanted(what, {upstream, 1, 1}, x.now, x.wall);
    x.machine.on_page(what, std::string{}, 1, x.now);
  }
  auto second_stream = x.stream;
  second_stream.id = 2;
  x.board->put(second_stream);
  x.pass(audit_interval(1));
  const auto first = x.machine.on_timer(*x.board, x.now, x.wall);
  ASSERT_TRUE(first.fetch);
  ASSERT_TRUE(first.timer);
  EXPECT_LE(*first.timer, x.now);
  const auto second = x.machine.on_timer(*x.board, x.now, x.wall);
  ASSERT_TRUE(second.fetch);
  EXPECT_NE(first.fetch->what, second.fetch->what);
  EXPECT_FALSE(second.timer);
}

} // namespace
} // namespace weir::tests
