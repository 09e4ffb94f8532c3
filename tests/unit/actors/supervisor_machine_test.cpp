#include "actors/supervisor/limits.hpp"
#include "actors/support/limits.hpp"
#include "tests/unit/actors/supervisor_queue.hpp"

namespace weir::tests::supervisors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// SYNC-10, SYNC-12
TEST(supervisor, a_wish_becomes_a_look_up_and_then_a_permit) {
  queue x;
  x.wish(1);
  EXPECT_THAT(x.prepared, ElementsAre(name(1)));
  EXPECT_THAT(x.started, IsEmpty());
  x.ready(1, a_host);
  EXPECT_THAT(x.started, ElementsAre(name(1)));
  EXPECT_EQ(x.machine.running(), 1u);
  x.end(1);
  EXPECT_EQ(x.machine.running(), 0u);
  EXPECT_EQ(x.machine.queued(), 0u);
}

// SYNC-11: `parallelism`, and one more
// protocol-coverage.md 9.5
TEST(supervisor, no_more_fetches_than_permits) {
  queue x;
  for (int i = 1; i <= 4; ++i)
    x.ask(i, "https://h" + std::to_string(i) + ".test");
  EXPECT_THAT(x.started, ElementsAre(name(1), name(2), name(3)));
  x.end(2);
  EXPECT_EQ(x.started.size(), 4u);
  EXPECT_EQ(x.machine.running(), 3u);
}

// actors.md, Who is fetched next: `per_host`, and one more; other hosts are not
// delayed
// protocol-coverage.md 9.5
TEST(supervisor, one_host_gets_no_more_than_its_share) {
  supervisor_options options;
  options.parallelism = 10;
  options.per_host = 2;
  queue x{options};
  for (int i = 1; i <= 3; ++i)
    x.ask(i, a_host);
  EXPECT_EQ(x.started.size(), 2u);
  x.ask(4, b_host);
  EXPECT_EQ(x.started.back(), name(4));
  x.end(1);
  EXPECT_EQ(x.started.back(), name(3));
}

// actors.md, Who is fetched next: one worker at a time fetches a DID
TEST(supervisor, a_repo_is_queued_once) {
  queue x;
  x.ask(1, a_host);
  x.wish(1);
  EXPECT_EQ(x.started.size(), 1u);
  EXPECT_EQ(x.machine.queued(), 1u);
  x.end(1); // It made a wish before its permit arrived.
  EXPECT_EQ(x.machine.queued(), 0u);
  x.wish(1);
  EXPECT_EQ(x.prepared.size(), 2u);
}

// SYNC-14: a wish that is older than the fetch must not cause another one
// before the time that its failure sets
TEST(supervisor, what_was_wished_before_a_fetch_began_is_done_with_it) {
  queue x;
  x.wish(1);
  x.wish(1);
  x.ready(1, a_host);
  EXPECT_EQ(x.started.size(), 1u);
  x.end(1);
  x.wish(1, repo_status::error, 1h);
  EXPECT_EQ(x.prepared.size(), 1u);
}

// Job numbers are unique, whatever the wall clock does after the start
TEST(supervisor, job_numbers_grow_even_when_the_clock_stands_still) {
  queue x;
  x.start();
  for (int i = 1; i <= 3; ++i)
    x.ask(i, a_host);
  ASSERT_EQ(x.jobs.size(), 3u);
  EXPECT_GT(x.jobs[0], static_cast<uint64_t>(x.wall.micros));
  EXPECT_LT(x.jobs[0], x.jobs[1]);
  EXPECT_LT(x.jobs[1], x.jobs[2]);
}

// actors.md, Who is fetched next: pending before desync before error
TEST(supervisor, repos_never_fetched_come_first_and_failed_ones_last) {
  supervisor_options options;
  options.preparing_max = 1;
  queue x{options};
  x.wish(1);
  x.wish(2, repo_status::error);
  x.wish(3, repo_status::desync);
  x.wish(4, repo_status::pending);
  for (const auto i : {1, 4, 3, 2})
    x.ready(i, "");
  EXPECT_THAT(x.prepared, ElementsAre(name(1), name(4), name(3), name(2)));
}

// SYNC-14: a retry waits for its time, and the scan finds it within 30 s
TEST(supervisor, a_retry_is_found_by_the_scan_after_its_time) {
  queue x;
  x.tick();
  x.wish(1, repo_status::error, 60s);
  for (const auto wait : {30s, 29s}) {
    x.pass(wait);
    EXPECT_THAT(x.prepared, IsEmpty());
  }
  x.pass(1s);
  EXPECT_THAT(x.prepared, ElementsAre(name(1)));
}

// actors.md, Who is fetched next: `retry_max`, and one more. A clock that was
// years ahead when a fetch failed wrote a time that never comes. Its repo makes
// a new wish when its host becomes known.
TEST(supervisor, a_wish_for_a_time_that_never_comes_is_one_for_now) {
  supervisor_options options;
  options.retry_max = 120s;
  queue x{options};
  x.wish(1, repo_status::error, 60s);
  x.wish(1, repo_status::error, 315'000'000s, a_host);
  EXPECT_THAT(x.prepared, ElementsAre(name(1)));
  x.wish(2, repo_status::error, options.retry_max);
  EXPECT_EQ(x.prepared.size(), 1u);
  x.wish(3, repo_status::error, options.retry_max + 1s);
  EXPECT_EQ(x.prepared.size(), 2u);
}

// limits::refetch_pause: a repo that is fetched too often waits longer than one
// that fails, if the back-off is that short.
TEST(supervisor, a_short_back_off_shortens_no_other_pause) {
  supervisor_options options;
  options.retry_max = 1s;
  queue x{options};
  x.wish(1, repo_status::desync, limits::refetch_pause);
  EXPECT_THAT(x.prepared, IsEmpty());
  x.wish(2, repo_status::desync, limits::refetch_pause + 1s);
  EXPECT_THAT(x.prepared, ElementsAre(name(2)));
}

// limits::fetch_wake_step; longer waits, up to the next scan, are left to the
// scan
TEST(supervisor, a_wait_shorter_than_the_scan_ends_on_time) {
  queue x;
  x.tick();
  x.wish(1, repo_status::pending, 5s);
  x.pass(5s - 1us);
  EXPECT_THAT(x.prepared, IsEmpty());
  x.pass(1us);
  EXPECT_THAT(x.prepared, ElementsAre(name(1)));
  x.pass(1us);
  x.wish(2, repo_status::pending, 5s);
  x.pass(5s + limits::fetch_wake_step - 2us);
  EXPECT_THAT(x.prepared, ElementsAre(name(1)));
  x.pass(1us);
  EXPECT_THAT(x.prepared, ElementsAre(name(1), name(2)));
}

// SYNC-14: other reasons for the timer do not matter
TEST(supervisor, a_resting_host_does_not_put_off_the_scan) {
  queue x;
  x.ask(1, a_host);
  x.host(a_host, host_verdict::rate_limited, 600s);
  x.end(1);
  x.ask(2, a_host);
  x.timer.reset();
  x.tick();
  ASSERT_TRUE(x.timer);
  EXPECT_EQ(*x.timer - x.now, 30s);
}

// actors.md, Who is fetched next: a wish for now replaces a later retry
TEST(supervisor, an_earlier_wish_replaces_a_later_one) {
  queue x;
  x.wish(1, repo_status::error, 600s);
  x.wish(1, repo_status::error, 900s);
  EXPECT_THAT(x.prepared, IsEmpty());
  x.wish(1, repo_status::desync);
  EXPECT_THAT(x.prepared, ElementsAre(name(1)));
  x.ready(1, "");
  x.pass(1'000s);
  x.tick();
  EXPECT_EQ(x.prepared.size(), 1u);
}

// SYNC-06: the repo recorded the error itself; its next wish counts
TEST(supervisor, a_repo_without_a_host_leaves_the_queue) {
  queue x;
  x.wish(1);
  x.failed(1, 60s);
  EXPECT_THAT(x.started, IsEmpty());
  EXPECT_EQ(x.machine.queued(), 1u);
  x.pass(60s);
  x.tick();
  EXPECT_EQ(x.prepared.size(), 2u);
}

// -- hosts (actors.md, Who is fetched next) -----------------------------------

// SYNC-13: the time that the host names, or 15 s without one
// protocol-coverage.md 5.0
TEST(supervisor, a_rate_limited_host_rests_as_long_as_it_says) {
  for (const auto& [said, rest] : std::initializer_list<
         std::pair<std::chrono::seconds, std::chrono::seconds>>{
         {40s, 40s},
         {0s, limits::host_rate_limit_rest},
         {1'000'000s, limits::host_rest_max}}) {
    queue x;
    x.host(a_host, host_verdict::rate_limited, said);
    x.ask(1, a_host);
    EXPECT_THAT(x.started, IsEmpty());
    x.pass(rest - 1us);
    EXPECT_EQ(x.prepared.size(), 1u);
    x.pass(1us);
    EXPECT_EQ(x.prepared.size(), 2u) << rest.count();
    x.ready(1, a_host);
    EXPECT_THAT(x.started, ElementsAre(name(1)));
  }
}

// actors.md, Who is fetched next: no repo keeps a place while its host rests
TEST(supervisor, repos_of_a_resting_host_do_not_hold_up_others) {
  supervisor_options options;
  options.parallelism = 1;
  options.preparing_max = 2;
  queue x{options};
  x.ask(1, a_host);
  x.ask(2, a_host);
  x.ask(3, a_host);
  x.host(a_host, host_verdict::rate_limited, 60s);
  x.end(1);
  x.ask(4, b_host);
  EXPECT_THAT(x.started, ElementsAre(name(1), name(4)));
  x.end(4);
  x.pass(60s);
  x.ready(2, a_host);
  EXPECT_EQ(x.started.back(), name(2));
}

// ADR 3, 8: `breaker_failures` in a row, doubling, up to the maximum
TEST(supervisor, a_host_that_fails_again_and_again_rests_longer) {
  queue x;
  std::vector<int64_t> rests;
  for (int failure = 1; failure <= 16; ++failure) {
    x.host(a_host, host_verdict::failed);
    x.timer.reset();
    x.clear();
    x.ask(failure, a_host);
    if (failure < 5) {
      EXPECT_EQ(x.started.size(), 1u);
      x.end(failure);
      continue;
    }
    EXPECT_THAT(x.started, IsEmpty());
    ASSERT_TRUE(x.timer);
    rests.push_back((*x.timer - x.now) / 1s);
    x.pass(std::chrono::seconds{rests.back()});
    x.ready(failure, ""); // It has nothing left to fetch.
  }
  EXPECT_THAT(rests,
              ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900));
  EXPECT_EQ(rests.front(), limits::host_rest_min / 1s);
  EXPECT_EQ(rests.back(), limits::host_rest_max / 1s);
  x.host(a_host, host_verdict::fine);
  x.pass(900s);
  x.clear();
  x.host(a_host, host_verdict::failed);
  x.ask(99, a_host);
  EXPECT_EQ(x.started.size(), 1u); // The failures are counted from zero.
}

// actors.md, Who is fetched next: `hosts_max`, and one more: documents may name
// any number of failing hosts, and no new host waits for that
TEST(supervisor, a_new_host_never_waits_for_the_many_that_failed) {
  supervisor_options options;
  options.hosts_max = 2;
  options.breaker_failures = 1;
  queue x{options};
  x.host("https://old.test", host_verdict::failed);
  x.host(b_host, host_verdict::failed);
  EXPECT_EQ(x.machine.hosts(), 2u);
  x.host("https://new.test", host_verdict::failed);
  EXPECT_EQ(x.machine.hosts(), 2u);
  x.ask(1, a_host);
  x.ask(2, "https://old.test"); // This host was forgotten.
  x.ask(3, b_host);             // This host rests.
  EXPECT_THAT(x.started, ElementsAre(name(1), name(2)));
}

// actors.md, Who is fetched next: dead hosts do not stay in the table for ever
TEST(supervisor, a_host_that_failed_is_forgotten_after_a_while) {
  queue x;
  x.host(a_host, host_verdict::failed);
  x.tick();
  EXPECT_EQ(x.machine.hosts(), 1u);
  x.pass(900s - 1us);
  x.tick();
  EXPECT_EQ(x.machine.hosts(), 1u);
  x.pass(1us);
  x.tick();
  EXPECT_EQ(x.machine.hosts(), 0u);
}

// -- overflow -----------------------------------------------------------------

// SYNC-10: `queue_max`, and one more: the store has the repos that memory
// cannot hold
TEST(supervisor, what_does_not_fit_is_found_by_a_scan_when_there_is_room) {
  supervisor_options options;
  options.queue_max = 4;
  options.preparing_max = 10;
  queue x{options};
  for (int i = 1; i <= 4; ++i)
    x.wish(i);
  EXPECT_EQ(x.machine.queued(), 4u);
  for (int i = 1; i <= 3; ++i)
    x.ready(i, "");
  EXPECT_EQ(x.scans, 0u); // Nothing was lost.
  for (int i = 5; i <= 8; ++i)
    x.wish(i);
  EXPECT_EQ(x.machine.queued(), 4u);
  for (int i = 4; i <= 6; ++i)
    x.ready(i, "");
  EXPECT_EQ(x.scans, 1u);
  x.paged({}, true);
  EXPECT_EQ(x.scans, 1u);
}

} // namespace
} // namespace weir::tests::supervisors
