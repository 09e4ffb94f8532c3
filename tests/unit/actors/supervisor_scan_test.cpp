#include "actors/supervisor/limits.hpp"
#include "storage/tables/limits.hpp"
#include "tests/unit/actors/supervisor_queue.hpp"

#include <algorithm>
#include <set>

namespace weir::tests::supervisors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A store of repos whose REPOs answer at once: live ones name their host and
/// are fetched, dead ones have nothing to fetch and do not change.
class stored_repos {
public:
  stored_repos(queue& x, size_t dead, size_t live)
    : queue_(x), dead_(dead), all_(dead + live) {
    // nop
  }

  /// Answers all questions until none is left.
  void settle() {
    bool more = true;
    while (more) {
      more = false;
      if (queue_.scan) {
        give_page(*queue_.scan);
        more = true;
      }
      for (; answered_ < queue_.prepared.size(); ++answered_, more = true)
        answer(index_of(queue_.prepared[answered_]));
      most_held_ = std::max(most_held_, queue_.machine.queued());
    }
  }

  size_t fetched() const { return fetched_.size(); }
  size_t asked() const { return answered_; }
  size_t most_held() const { return most_held_; }

private:
  static size_t index_of(const std::string& did) {
    return std::stoul(did.substr(std::string{"did:web:r"}.size()));
  }

  void give_page(const work_scan::request& x) {
    size_t at = x.after.empty() ? 0 : std::stoul(x.after);
    const auto end = std::min(at + x.limit, all_);
    for (; at < end; ++at)
      if (at < dead_ || !fetched_.contains(at))
        queue_.found(static_cast<int>(at));
    queue_.paged(std::to_string(end), end == all_);
  }

  void answer(size_t repo) {
    const auto i = static_cast<int>(repo);
    if (repo < dead_) {
      queue_.ready(i, {});
      return;
    }
    queue_.ready(i, "https://h" + std::to_string(repo % 50) + ".test");
    while (ended_ < queue_.started.size()) {
      const auto done = index_of(queue_.started[ended_++]);
      fetched_.insert(done);
      queue_.end(static_cast<int>(done));
    }
  }

  queue& queue_;
  size_t dead_;
  size_t all_;
  std::set<size_t> fetched_;
  size_t answered_ = 0;
  size_t ended_ = 0;
  size_t most_held_ = 0;
};

supervisor_options small_queue() {
  supervisor_options out;
  out.queue_max = 10'922; // The value for memory_limit = 128MiB.
  return out;
}

} // namespace

// SYNC-10: a scan continues where the last one ended. Rows that cannot be
// fetched come before those of active repos. Each is asked once, and no more.
TEST(work_scan, repos_behind_many_dead_ones_are_reached) {
  for (const auto& [dead, live] :
       {std::pair<size_t, size_t>{12'000, 2'000}, {30'000, 100'000}}) {
    queue x{small_queue()};
    stored_repos store{x, dead, live};
    x.start();
    store.settle();
    EXPECT_EQ(store.fetched(), live);
    EXPECT_EQ(store.asked(), dead + live);
    EXPECT_LE(store.most_held(), small_queue().queue_max);
    EXPECT_EQ(x.machine.queued(), 0u);
    const auto scans = x.scans;
    for (int minute = 0; minute < 120; ++minute)
      x.pass(30s);
    store.settle();
    EXPECT_EQ(x.scans, scans) << "nothing was left out";
    EXPECT_EQ(store.asked(), dead + live);
  }
}

// SYNC-10; limits::scan_again_after: on a slow disk the lap for a repo that did
// not fit reads its row before it is written
TEST(work_scan, what_did_not_fit_is_looked_for_again_when_it_is_written) {
  supervisor_options options;
  options.queue_max = 2;
  queue x{options};
  x.start();
  x.paged({}, true);
  for (int i = 0; i < 3; ++i)
    x.wish(i);
  x.clear();
  for (int i = 0; i < 3; ++i)
    x.ready(i, {});
  ASSERT_TRUE(x.scan);
  x.paged({}, true);
  EXPECT_FALSE(x.scan);
  x.pass(limits::scan_again_after - 1us);
  x.tick();
  EXPECT_FALSE(x.scan);
  x.pass(1us);
  x.tick();
  ASSERT_TRUE(x.scan);
  x.found(2);
  EXPECT_THAT(x.prepared, ElementsAre(name(2)));
  x.paged({}, true);
  x.pass(limits::scan_again_after);
  x.tick();
  EXPECT_FALSE(x.scan) << "all of it was found";
}

// SYNC-10, SYNC-14: repos that wait an hour take no place from those that are
// due, and are found again at their time
TEST(work_scan, failed_repos_that_wait_keep_no_place_from_others) {
  queue x{small_queue()};
  constexpr int failed = 6'000;
  constexpr int broken = 6'000;
  for (int i = 0; i < failed; ++i)
    x.wish(i, repo_status::error, 3'600s);
  for (int i = failed; i < failed + broken; ++i)
    x.wish(i, repo_status::desync);
  std::set<std::string> asked;
  for (size_t i = 0; i < x.prepared.size(); ++i) {
    asked.insert(x.prepared[i]);
    x.ready(std::stoi(x.prepared[i].substr(9)), {});
  }
  EXPECT_EQ(asked.size(), size_t{broken});
  EXPECT_EQ(x.scans, 0u) << "whatever did not fit waits";
  EXPECT_EQ(x.machine.queued(), 10'922u - broken);
  x.pass(3'600s);
  x.tick();
  EXPECT_EQ(x.scans, 1u);
  for (int i = 0; i < failed; ++i)
    x.found(i, repo_status::error);
  x.paged({}, true);
  x.clear();
  EXPECT_FALSE(x.scan);
  x.pass(30s);
  EXPECT_EQ(x.scans, 0u) << "nothing was left out any more";
}

// `queue_max`, and one more: those that are due first keep their places
TEST(work_scan, of_those_that_wait_the_last_ones_are_left_out) {
  supervisor_options options;
  options.queue_max = 2;
  queue x{options};
  x.wish(1, repo_status::error, 60s);
  x.wish(2, repo_status::error, 90s);
  x.wish(3, repo_status::error, 30s);
  x.wish(4, repo_status::error, 120s);
  EXPECT_EQ(x.machine.queued(), 2u);
  x.pass(30s);
  x.tick();
  EXPECT_THAT(x.prepared, ElementsAre(name(3)));
  x.ready(3, {});
  x.pass(30s);
  x.tick();
  EXPECT_THAT(x.prepared, ElementsAre(name(3), name(1)));
  EXPECT_EQ(x.scans, 0u);
  x.ready(1, {});
  x.pass(30s);
  x.tick();
  EXPECT_EQ(x.scans, 1u) << "the second is due";
}

// A full queue ends the page, and half of it must be free before the next.
TEST(work_scan, reads_on_when_half_of_the_queue_is_free) {
  work_scan x;
  EXPECT_FALSE(x.next(0, 10)) << "nothing is wanted";
  x.begin();
  auto page = x.next(0, 10);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->after, "");
  EXPECT_EQ(page->limit, 10u);
  EXPECT_TRUE(page->quiet);
  EXPECT_FALSE(x.next(0, 10)) << "one page at a time";
  x.on_page("p1", false);
  EXPECT_FALSE(x.next(10, 10));
  EXPECT_FALSE(x.next(6, 10));
  page = x.next(5, 10);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->after, "p1");
  EXPECT_EQ(page->limit, 5u);
  x.on_page({}, true);
  EXPECT_FALSE(x.next(0, 10));
  EXPECT_EQ(work_scan{}.next(0, 10).has_value(), false);
}

// limits::repos_page_max, and one more
TEST(work_scan, a_page_has_so_many_rows_and_not_one_more) {
  for (const size_t more : {0, 1}) {
    work_scan x;
    x.begin();
    EXPECT_EQ(x.next(0, limits::repos_page_max + more)->limit,
              limits::repos_page_max);
  }
}

// Repos that did not fit may be before the present place of the scan.
TEST(work_scan, what_did_not_fit_meanwhile_asks_for_another_lap) {
  work_scan x;
  x.begin();
  static_cast<void>(x.next(0, 10));
  x.left_out_now({});
  x.on_page({}, true);
  const auto again = x.next(0, 10);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->after, "");
  x.on_page({}, true);
  EXPECT_FALSE(x.next(0, 10));
}

// Looking for quiet work reads the rows of all repos, which a retry does not
// need.
TEST(work_scan, a_lap_for_retries_looks_for_no_quiet_work) {
  work_scan x;
  x.left_out(steady_time{50}, false);
  x.left_out(steady_time{20}, false);
  x.left_out(steady_time{30}, false);
  x.on_timer(steady_time{19});
  EXPECT_FALSE(x.next(0, 10));
  x.on_timer(steady_time{20});
  const auto page = x.next(0, 10);
  ASSERT_TRUE(page);
  EXPECT_FALSE(page->quiet);
}

// Except for repos with quiet work that gave up their places: nothing else
// finds them again.
TEST(work_scan, quiet_work_that_was_left_out_is_looked_for_again) {
  supervisor_options options;
  options.queue_max = 2;
  queue x{options};
  x.start();
  ASSERT_TRUE(x.scan);
  EXPECT_TRUE(x.scan->quiet);
  x.host(a_host, host_verdict::rate_limited, 60s);
  x.found(1, repo_status::desync, 0s, a_host, true);
  x.paged({}, true);
  EXPECT_FALSE(x.scan);
  x.wish(2, repo_status::desync, 0s, b_host);
  x.wish(3, repo_status::desync, 0s, b_host);
  EXPECT_THAT(x.prepared, ElementsAre(name(2), name(3)));
  x.ready(2, {});
  x.ready(3, {});
  EXPECT_EQ(x.machine.queued(), 0u) << "the first one waits, and has no place";
  x.pass(60s);
  x.tick();
  ASSERT_TRUE(x.scan);
  EXPECT_TRUE(x.scan->quiet);
  x.found(1, repo_status::desync, 0s, a_host, true);
  x.paged({}, true);
  EXPECT_THAT(x.prepared, ElementsAre(name(2), name(3), name(1)));
  x.pass(120s);
  x.tick();
  EXPECT_FALSE(x.scan) << "it was found";
}

// actors.md, Who is fetched next: `retry_max`, and one more. A clock that was
// years ahead when a fetch failed wrote a time that never comes.
TEST(work_scan, a_time_beyond_the_longest_back_off_is_a_wrong_clocks) {
  const wall_time now{1'700'000'000'000'000};
  const auto longest = 3'600s;
  EXPECT_EQ(wait_of(0, now, longest), 0s);
  EXPECT_EQ(wait_of(1'700'000'000, now, longest), 0s);
  EXPECT_EQ(wait_of(1'700'000'001, now, longest), 1s);
  EXPECT_EQ(wait_of(1'700'003'600, now, longest), 3'600s);
  EXPECT_EQ(wait_of(1'700'003'601, now, longest), 0s);
  EXPECT_EQ(wait_of(2'110'717'143, now, longest), 0s);
}

// actors.md, Who is fetched next: waits in memory use the monotonic clock. The
// scan, which finds another time in the row, does not shorten them.
TEST(supervisor, the_scan_hastens_nobody_whose_wait_is_known) {
  queue x;
  x.wish(1, repo_status::error, 60s);
  x.found(1, repo_status::error);
  EXPECT_THAT(x.prepared, IsEmpty());
  x.pass(60s);
  x.tick();
  EXPECT_THAT(x.prepared, ElementsAre(name(1)));
}

} // namespace weir::tests::supervisors
