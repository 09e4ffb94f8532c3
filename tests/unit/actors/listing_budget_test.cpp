#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/listing_budget.hpp"
#include "atproto/identifiers.hpp"
#include "net/limits.hpp"
#include "tests/unit/actors/listing_run.hpp"

#include <gmock/gmock.h>

// The budget that the listings of one upstream share (limits::
// listing_requests_range), and hosts that ask us to wait.
namespace weir::tests {
namespace {

constexpr size_t hourly = 360;
constexpr auto cost = 10s; ///< The cost of a request.

listing_options frugal() {
  listing_options out;
  out.requests_per_hour = hourly;
  return out;
}

listing_id listing(size_t number, uint32_t upstream = 1) {
  return {upstream, number == 0 ? "" : "app.test.c" + std::to_string(number)};
}

/// Listings of one upstream. Their pages are answered at once.
struct budget_run : listing_run {
  using listing_run::listing_run;

  /// Starts listings with these numbers of pages.
  void begin(std::vector<size_t> each) {
    pages = std::move(each);
    for (size_t i = 0; i < pages.size(); ++i)
      answer(machine.on_wanted(listing(i), i == 0 ? listed_since : position{},
                               now, wall));
  }

  void answer(listing_machine::effects x) {
    for (auto left = SIZE_MAX; x.fetch; --left) {
      const auto what = x.fetch->what;
      const auto number = size_t(
        what.collection.empty() ? 0 : std::stoi(what.collection.substr(10)));
      ++requests;
      ++asked[what];
      if (failing.contains(number)) {
        x = machine.on_page(what, fail(ec::unreachable), 0, now);
      } else {
        left = std::min(left, pages[number]);
        const auto next = left > 1 ? std::to_string(left) : std::string{};
        x = machine.on_page(what, next, 1, now);
      }
    }
    timer = x.timer;
  }

  /// @returns requests during this time
  size_t live(std::chrono::microseconds time) {
    const auto end = now + time;
    const auto before = requests;
    while (timer && *timer < end) {
      pass(std::max(*timer - now, std::chrono::microseconds{0}));
      answer(machine.on_timer(*board, now, wall));
    }
    pass(end - now);
    return requests - before;
  }

  std::vector<size_t> pages;
  std::set<size_t> failing;
  std::optional<steady_time> timer;
  size_t requests = 0;
  std::map<listing_id, size_t> asked;
};

TEST(listing_budget, a_request_costs_its_part_of_an_hour_and_not_less) {
  EXPECT_EQ(listing_budget::cost_of(1), 1h);
  EXPECT_EQ(listing_budget::cost_of(50), 72s);
  EXPECT_EQ(listing_budget::cost_of(7) * 7, 1h + 5us);
  EXPECT_EQ(listing_budget::cost_of(limits::listing_requests_range.max), 36ms);
}

// hostile-inputs.md 2.1.29: however many collections are listed
TEST(listing_budget, the_listings_of_an_upstream_share_it) {
  for (const size_t count : {1u, 2u, 11u}) {
    budget_run x{frugal()};
    x.begin(std::vector<size_t>(count, 1));
    EXPECT_EQ(x.requests, count) << "what is new is listed at once";
    EXPECT_EQ(x.live(cost * count), 0u) << "and paid before the next one";
    EXPECT_EQ(x.live(1us), 1u);
    EXPECT_EQ(x.live(10h), 10 * hourly);
    for (size_t i = 0; i < count; ++i)
      EXPECT_LE(10 * hourly / count, x.asked[listing(i)] + 2)
        << "each has its turn";
  }
}

TEST(listing_budget, a_long_listing_and_short_ones_have_their_turns) {
  budget_run x{frugal()};
  x.begin({90, 1, 1});
  EXPECT_LE(x.live(100h), 100 * hourly + 1);
  EXPECT_GE(x.asked[listing(1)], 100 * hourly / 92);
  EXPECT_GE(x.asked[listing(0)], 90 * (100 * hourly / 92 - 1));
}

// It is repeated every 24 hours, whatever it or other listings cost.
TEST(listing_budget, nobody_waits_for_it_longer_than_the_interval) {
  budget_run x{frugal()};
  x.begin({20'000, 1});
  EXPECT_EQ(x.live(24h), 0u);
  EXPECT_EQ(x.live(1us), 20'001u);
}

TEST(listing_budget, what_was_missed_is_listed_without_it) {
  budget_run x{frugal()};
  x.begin({100, 1});
  EXPECT_FALSE(x.want({1, 2, 50})) << "events may be missing";
  x.timer = x.last.timer;
  EXPECT_EQ(x.live(listing_grace), 0u);
  EXPECT_EQ(x.live(1us), 100u);
}

TEST(listing_budget, a_request_that_fails_is_paid_too) {
  budget_run x{frugal()};
  x.begin({1, 1, 1});
  x.failing = {2};
  EXPECT_LE(x.live(10h), 10 * hourly + 1);
  x.failing = {0, 1, 2};
  x.live(1h);
  const auto most = x.live(10h);
  EXPECT_LE(most, 10 * hourly);
  EXPECT_EQ(most, 3u * 10 * 60) << "each, as often as listing_retry_max allows";
}

// limits::listing_retry_max does not apply to an upstream with many listings.
TEST(listing_budget, many_listings_that_fail_keep_it) {
  listing_options options;
  options.requests_per_hour = 50;
  budget_run x{options};
  x.begin(std::vector<size_t>(11, 1));
  for (size_t i = 0; i < 11; ++i)
    x.failing.insert(i);
  x.live(24h);
  EXPECT_LE(x.live(100h), 100u * 50 + 11);
  EXPECT_GE(x.live(100h), 100u * 50 - 11);
}

// The wait is that of the answer (Retry-After), and not less.
TEST(listing_retry_after, all_listings_of_a_host_wait_as_it_asks) {
  const listing_id some{1, "app.test.note"};
  listing_run x;
  x.want();
  x.page("c1");
  x.take(x.machine.on_wanted(some, {}, x.now, x.wall));
  x.take(x.machine.on_page(some, std::string{}, 1, x.now));
  EXPECT_FALSE(x.take(
    x.machine.on_page(x.all, fail(ec::unreachable), 0, x.now, 600s)));
  EXPECT_EQ(*x.last.timer - x.now, 600s);
  EXPECT_FALSE(x.want({1, 2, 50})) << "whatever its stream does";
  EXPECT_FALSE(
    x.take(x.machine.on_wanted({1, "app.test.b"}, {}, x.now, x.wall)))
    << "nor one that is new";
  EXPECT_TRUE(x.take(x.machine.on_wanted({2, {}}, {2, 1, 1}, x.now, x.wall)))
    << "another host did not ask for that";
  x.pass(600s - 1us);
  EXPECT_FALSE(x.tick());
  x.pass(1us);
  size_t began = 0;
  while (x.tick())
    ++began;
  EXPECT_EQ(began, 3u);
}

// It continues at its cursor. A shorter wait than ours does not make it faster.
TEST(listing_retry_after, the_listing_goes_on_at_its_cursor) {
  listing_run x;
  x.want();
  x.page("c1");
  x.take(x.machine.on_page(x.all, fail(ec::unreachable), 0, x.now, 17s));
  EXPECT_EQ(*x.last.timer - x.now, 17s);
  EXPECT_FALSE(x.want()) << "its stream was opened again";
  x.pass(17s);
  ASSERT_TRUE(x.tick());
  EXPECT_EQ(x.last.fetch->cursor, "c1");
  x.take(x.machine.on_page(x.all, fail(ec::unreachable), 0, x.now, 1s));
  EXPECT_EQ(*x.last.timer - x.now, 2s);
}

// A host that answers at the rate that it requested does not fail.
TEST(listing_retry_after, a_page_that_goes_on_waits_no_longer_than_asked) {
  listing_run x;
  x.want();
  x.page("c1");
  const auto limited = [&](std::chrono::seconds wait) {
    EXPECT_FALSE(x.take(
      x.machine.on_page(x.all, fail(ec::rate_limited), 0, x.now, wait)));
    const auto rest = *x.last.timer - x.now;
    x.pass(rest);
    EXPECT_TRUE(x.tick());
    EXPECT_EQ(x.last.fetch->cursor, "c1");
    return rest;
  };
  for (size_t i = 0; i < 10; ++i)
    EXPECT_EQ(limited(3s), 3s) << i;
  for (size_t i = 0; i < 10; ++i)
    EXPECT_EQ(limited(0s), limits::listing_retry_min) << i;
}

// limits::retry_wait_max
TEST(listing_retry_after, nobody_is_waited_for_longer_than_a_day) {
  for (const auto more : {0s, 1s}) {
    listing_run x;
    x.want();
    x.take(x.machine.on_page(x.all, fail(ec::unreachable), 0, x.now,
                             limits::retry_wait_max + more));
    EXPECT_EQ(*x.last.timer - x.now, limits::retry_wait_max);
  }
}

// A host that must be asked about each repo of a page is charged for that, too.
TEST(listing_budget, what_is_asked_about_each_repo_is_paid_too) {
  constexpr size_t repos = 1'000;
  const steady_time begin{1'000'000};
  const auto due_after = [&](bool asked) {
    listing_machine x{frugal()};
    EXPECT_TRUE(x.on_wanted(listing(1), {}, begin, {}).fetch);
    if (asked)
      x.on_asked(listing(1), repos, begin);
    const auto end = x.on_page(listing(1), std::string{}, repos, begin);
    EXPECT_TRUE(end.finished);
    return end.timer.value_or(steady_time{}) - begin;
  };
  EXPECT_EQ(due_after(true), (repos + 1) * cost);
  EXPECT_LT(due_after(false), repos * cost);
}

/// Lines as `stable_hash` gives them.
std::vector<uint64_t> lines(size_t from, size_t count, size_t of) {
  std::vector<uint64_t> out;
  for (size_t i = 0; i < count; ++i)
    out.push_back(
      atproto::stable_hash("did:plc:" + std::to_string((from + i) % of)));
  return out;
}

// hostile-inputs.md 2.1.29: new cursors, a changing order, and another number
// of lines each time
TEST(listing_machine, the_same_repos_in_changing_pages_end_the_listing) {
  listing_run x;
  ASSERT_TRUE(x.want());
  size_t pages = 0;
  size_t named = 0;
  const auto page = [&] {
    const auto count = 900 + pages % 99;
    named += count;
    x.machine.on_lines(x.all, lines(pages * 7, count, 20));
    return x.page("c" + std::to_string(++pages), count);
  };
  // Some failures must not make the node forget what was listed.
  while (page() && pages < 1'000)
    if (pages % 3 == 0) {
      EXPECT_FALSE(x.fail_page(ec::unreachable));
      x.pass(limits::listing_retry_min);
      ASSERT_TRUE(x.tick());
    }
  EXPECT_TRUE(x.last.finished);
  EXPECT_FALSE(x.last.whole) << "who knows whom it leaves out";
  EXPECT_GT(named, limits::listing_again_max);
  EXPECT_LT(named, limits::listing_again_max + 40 + 1'000);
  x.pass(24h);
  ASSERT_TRUE(x.tick());
  EXPECT_TRUE(page()) << "forgotten with the run";
}

// A real host is listed without interruption, however many repos it has.
TEST(listing_machine, a_million_repos_are_listed_in_one_go) {
  constexpr size_t count = limits::listing_page_asked;
  listing_run x;
  ASSERT_TRUE(x.want());
  for (size_t i = 0; i < 1'000; ++i) {
    x.machine.on_lines(x.all, lines(i * count, count, SIZE_MAX));
    ASSERT_TRUE(x.page("c" + std::to_string(i), count)) << i;
  }
  EXPECT_FALSE(x.page(""));
  EXPECT_TRUE(x.last.whole);
}

} // namespace
} // namespace weir::tests
