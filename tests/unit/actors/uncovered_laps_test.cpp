#include "actors/supervisor/limits_scans.hpp"
#include "actors/supervisor/uncovered_laps.hpp"
#include "storage/tables/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

/// The hosts of repos that no upstream covers: what they are asked, and when.
namespace weir::actors {
namespace {

using namespace std::chrono_literals;
using storage::account_status;
using storage::repo_status;
using testing::ElementsAre;

constexpr auto interval = limits::uncovered_interval;
const std::string host = "https://host.test";

atproto::did row_did(size_t n) {
  auto digits = std::to_string(n);
  return atproto::did::trusted("did:plc:row"
                               + std::string(7 - digits.size(), '0') + digits);
}

size_t number_of(const atproto::did& x) {
  return std::stoul(x.str().substr(std::string_view{"did:plc:row"}.size()));
}

storage::repo_row row_of_host(std::string pds = host) {
  storage::repo_row out;
  out.status = repo_status::synced;
  out.pds = std::move(pds);
  return out;
}

/// A store with this number of rows of one host, read in pages.
struct world {
  explicit world(size_t x, std::chrono::seconds each = interval)
    : rows(x), laps(each) {
    laps.start(now, 0);
  }

  /// Runs until the lap ends. @returns the repos that were asked about, in
  /// order
  std::vector<size_t> run() {
    std::vector<size_t> out;
    now = *laps.due();
    do {
      const auto page = laps.next(now, 0, false);
      if (!page) {
        ADD_FAILURE() << "a page is due";
        break;
      }
      const auto first = page->after.empty() ? 0 : number_of(page->after) + 1;
      bool asked = false;
      bool end = true;
      size_t last = first;
      for (auto i = first; i < rows; ++i) {
        if (!page->until.empty() && row_did(i) > page->until)
          break;
        if (i - first == page_rows) {
          end = false;
          break;
        }
        last = i;
        if (!laps.take(row_did(i), row_of_host()))
          continue;
        asked = true;
        if (out.size() < places)
          out.push_back(i);
        else
          laps.on_shortage();
      }
      laps.on_page(row_did(last), end, asked, now);
      if (asked && laps.runs()) {
        EXPECT_FALSE(laps.next(now + (limits::uncovered_page_pause - 1us), 0,
                               false));
        now = now + limits::uncovered_page_pause;
      }
    } while (laps.runs());
    return out;
  }

  size_t rows;
  size_t places = 1'000'000;
  size_t page_rows = 100;
  steady_time now{1};
  uncovered_laps laps;
};

} // namespace

// There is a lap soon after the start, and then one in each interval.
TEST(uncovered_laps, all_rows_are_looked_at_once_in_an_interval) {
  world x{3};
  const auto first = *x.laps.due();
  EXPECT_EQ(first, x.now + interval / limits::uncovered_first_part);
  EXPECT_FALSE(x.laps.next(first + -1us, 0, false));
  EXPECT_EQ(x.laps.found(), std::nullopt) << "nobody looked yet";
  EXPECT_THAT(x.run(), ElementsAre(0, 1, 2));
  EXPECT_EQ(x.laps.found(), 3u);
  EXPECT_EQ(*x.laps.due(), first + interval);
  EXPECT_THAT(x.run(), ElementsAre(0, 1, 2));
}

TEST(uncovered_laps, nodes_that_begin_together_do_not_ask_together) {
  constexpr auto least = std::chrono::microseconds{interval}
                         / limits::uncovered_jitter_part;
  constexpr auto draw = static_cast<uint64_t>(least.count()) - 1;
  uncovered_laps x{interval};
  x.start(steady_time{0}, draw);
  const auto first = *x.due();
  EXPECT_GT(first, steady_time{0} + interval / limits::uncovered_first_part);
  EXPECT_LT(first,
            steady_time{0} + 2 * interval / limits::uncovered_first_part);
  ASSERT_TRUE(x.next(first, draw, false));
  x.on_page({}, true, false, first);
  EXPECT_EQ(*x.due(), first + (interval - least) + 1us);
}

// A relay covers any host, so the rows are not even read.
TEST(uncovered_laps, there_is_nothing_to_look_for_beside_a_relay) {
  uncovered_laps x{interval};
  x.start(steady_time{0}, 0);
  const auto first = *x.due();
  EXPECT_FALSE(x.next(first, 0, true));
  EXPECT_EQ(x.found(), 0u);
  EXPECT_EQ(*x.due(), first + interval);
}

TEST(uncovered_laps, one_page_is_read_at_a_time) {
  uncovered_laps x{interval};
  x.start(steady_time{0}, 0);
  const auto first = *x.due();
  EXPECT_TRUE(x.next(first, 0, false));
  EXPECT_FALSE(x.next(first, 0, false));
  EXPECT_EQ(x.due(), std::nullopt);
  x.on_page(row_did(7), false, false, first);
  EXPECT_EQ(x.next(first, 0, false)->after, row_did(7));
  x.on_failure();
  EXPECT_FALSE(x.next(first, 0, false)) << "the next lap comes in its time";
  EXPECT_EQ(*x.due(), first + interval);
}

// limits::uncovered_asked_per_host: at the limit all are asked about in each
// lap. Above it each has its turn, and a lap has only a few more than the
// budget.
TEST(uncovered_laps, a_host_is_asked_about_so_many_in_an_hour) {
  constexpr auto budget = limits::uncovered_asked_per_host;
  world at_limit{budget};
  EXPECT_EQ(at_limit.run().size(), budget);
  EXPECT_EQ(at_limit.run().size(), budget);
  world beyond{budget + 1};
  beyond.run(); // The lap learns how many there are.
  const auto one = beyond.run();
  const auto other = beyond.run();
  EXPECT_LE(one.size(), budget);
  EXPECT_LE(other.size(), budget);
  EXPECT_EQ(one.size() + other.size(), budget + 1) << "each was asked about";
}

TEST(uncovered_laps, of_a_crowd_each_has_its_turn) {
  constexpr size_t parts = 10;
  world x{parts * limits::uncovered_asked_per_host};
  x.run();
  std::map<size_t, size_t> times;
  for (size_t i = 0; i < parts; ++i)
    for (const auto each : x.run())
      ++times[each];
  EXPECT_EQ(times.size(), x.rows);
  for (const auto& [each, count] : times)
    ASSERT_EQ(count, 1u) << each;
}

// limits::uncovered_burst: the number is not known yet.
TEST(uncovered_laps, a_crowd_that_is_new_is_asked_about_in_part) {
  constexpr auto most = limits::uncovered_burst
                        * limits::uncovered_asked_per_host;
  world at_limit{most};
  EXPECT_EQ(at_limit.run().size(), most);
  world beyond{most + 1};
  EXPECT_EQ(beyond.run().size(), most);
}

// limits::uncovered_asked_per_lap_min: the rest of an hour's budget is smaller.
TEST(uncovered_laps, a_short_interval_has_its_part_of_the_budget) {
  constexpr auto least = limits::uncovered_asked_per_lap_min;
  world half{limits::uncovered_asked_per_host, interval / 2};
  half.run();
  EXPECT_NEAR(static_cast<double>(half.run().size()),
              limits::uncovered_asked_per_host / 2.0,
              limits::uncovered_asked_per_host / 10.0);
  world at_limit{least, 1s};
  at_limit.run();
  EXPECT_EQ(at_limit.run().size(), least);
  world beyond{least + 1, 1s};
  beyond.run();
  EXPECT_LT(beyond.run().size(), least + 1);
}

// limits::uncovered_host_slots
TEST(uncovered_laps, hosts_have_budgets_of_their_own) {
  constexpr size_t hosts = limits::uncovered_host_slots / 64;
  uncovered_laps x{interval};
  x.start(steady_time{0}, 0);
  ASSERT_TRUE(x.next(*x.due(), 0, false));
  for (size_t i = 0; i < limits::uncovered_burst
                           * limits::uncovered_asked_per_host;
       ++i)
    x.take(row_did(i), row_of_host());
  EXPECT_FALSE(x.take(row_did(9'999'999), row_of_host()));
  size_t asked = 0;
  for (size_t i = 0; i < hosts; ++i)
    asked += x.take(row_did(i), row_of_host("https://h" + std::to_string(i)
                                       + ".test"));
  EXPECT_GE(asked, hosts - 2) << "one in thousands shares that host's slot";
}

TEST(uncovered_laps, the_next_lap_begins_where_there_was_no_room) {
  world x{10};
  x.places = 4;
  EXPECT_THAT(x.run(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(x.run(), ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(x.laps.found(), 10u) << "none was counted twice";
  EXPECT_THAT(x.run(), ElementsAre(8, 9, 0, 1));
  x.places = 10;
  EXPECT_THAT(x.run(), ElementsAre(2, 3, 4, 5, 6, 7, 8, 9, 0, 1));
  EXPECT_THAT(x.run(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

// A repo that is to be fetched gets the news by that; a deleted one does not
// return.
TEST(uncovered_laps, whoever_is_fetched_or_gone_is_counted_and_not_asked_about) {
  uncovered_laps x{interval};
  x.start(steady_time{0}, 0);
  const auto first = *x.due();
  ASSERT_TRUE(x.next(first, 0, false));
  auto row = row_of_host();
  EXPECT_TRUE(x.take(row_did(1), row));
  row.account = account_status::deactivated;
  EXPECT_TRUE(x.take(row_did(2), row));
  row.account = account_status::deleted;
  row.status = repo_status::pending;
  EXPECT_FALSE(x.take(row_did(3), row));
  row.words.tombstoned = true;
  EXPECT_TRUE(x.take(row_did(3), row)) << "by the word of the directory alone";
  row.words.host = account_status::deactivated;
  EXPECT_TRUE(x.take(row_did(3), row)) << "its host may have it";
  row.words.host = account_status::deleted;
  EXPECT_FALSE(x.take(row_did(3), row));
  row.account = account_status::active;
  for (const auto status : {repo_status::pending, repo_status::syncing,
                            repo_status::error, repo_status::desync}) {
    row.status = status;
    EXPECT_FALSE(x.take(row_did(4), row));
  }
  x.on_page(row_did(4), true, true, first);
  EXPECT_EQ(x.found(), 10u);
}

namespace {

using rows = std::vector<std::pair<atproto::did, storage::repo_row>>;

rows rows_at_host(size_t first, size_t count, const std::string& pds = host) {
  rows out;
  for (size_t i = 0; i < count; ++i)
    out.emplace_back(row_did(first + i), row_of_host(pds));
  return out;
}

struct picked {
  explicit picked(const rows& from, const uncovered_laps::page& at = {}) {
    upstream_view followed;
    followed.id = 1;
    // This stream is not even connected.
    followed.origin = "https://followed.test";
    board.put(followed);
    pick_uncovered(from, board, at, *this);
  }

  upstream_board board;
  rows repos;
  atproto::did last;
  bool end = false;
};

} // namespace

// limits::uncovered_page_max: the next page begins with the one above the
// limit.
TEST(uncovered_laps, a_page_has_so_many_questions) {
  constexpr auto most = limits::uncovered_page_max;
  const picked at_limit{rows_at_host(1, most)};
  EXPECT_EQ(at_limit.repos.size(), most);
  EXPECT_TRUE(at_limit.end);
  const picked beyond{rows_at_host(1, most + 1)};
  EXPECT_EQ(beyond.repos.size(), most);
  EXPECT_EQ(beyond.last, row_did(most));
  EXPECT_FALSE(beyond.end);
}

TEST(uncovered_laps, rows_that_an_upstream_covers_are_passed_over) {
  auto some = rows_at_host(1, limits::repos_page_max - 1,
                           "https://followed.test");
  some.emplace_back(row_did(9'000), row_of_host(""));
  const picked x{some};
  EXPECT_TRUE(x.repos.empty());
  EXPECT_EQ(x.last, row_did(9'000));
  EXPECT_FALSE(x.end) << "a whole page was read";
}

TEST(uncovered_laps, a_lap_that_began_in_the_middle_ends_there) {
  const auto some = rows_at_host(1, 9);
  const picked x{some, {{}, row_did(3)}};
  EXPECT_EQ(x.repos.size(), 3u);
  EXPECT_EQ(x.last, row_did(3));
  EXPECT_TRUE(x.end);
}

} // namespace weir::actors
