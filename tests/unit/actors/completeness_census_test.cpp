#include "actors/supervisor/completeness_laps.hpp"
#include "actors/supervisor/limits_scans.hpp"
#include "actors/support/completeness_census.hpp"
#include "actors/support/limits.hpp"

#include <gtest/gtest.h>

#include <string>

// Counting which repos are complete (completeness.md, Asking).

namespace weir::actors {
namespace {

using namespace std::chrono_literals;

atproto::did did_number(uint64_t x) {
  return atproto::did::trusted("did:web:n" + std::to_string(x) + ".test");
}

completeness::terms whole_terms() {
  completeness::terms out;
  for (const auto& x : completeness::all_terms)
    out.*x.holds = true;
  return out;
}

storage::repo_row row_at(std::string host, int64_t last_sync = 1'000) {
  storage::repo_row out;
  out.pds = std::move(host);
  out.last_sync = last_sync;
  return out;
}

uint64_t without(const completeness_count& x, const char* term) {
  for (size_t i = 0; i < x.without.size(); ++i)
    if (std::string_view{completeness::all_terms[i].name} == term)
      return x.without[i];
  return 0;
}

} // namespace

TEST(completeness_census, counts_by_host_and_by_what_is_missing) {
  completeness_census x;
  x.add(did_number(1), row_at("https://a.test"), whole_terms());
  auto lacks = whole_terms();
  lacks.synced = lacks.no_gap = false;
  x.add(did_number(2), row_at("https://a.test"), lacks);
  lacks.no_gap = true;
  x.add(did_number(3), row_at("https://b.test"), lacks);
  x.close();
  EXPECT_EQ(x.all().active, 3u);
  EXPECT_EQ(x.all().complete, 1u);
  EXPECT_EQ(without(x.all(), "synced"), 2u);
  EXPECT_EQ(without(x.all(), "no_gap"), 1u);
  EXPECT_EQ(x.hosts().at("https://a.test").complete, 1u);
  EXPECT_EQ(x.hosts().at("https://b.test").complete, 0u);
  EXPECT_EQ(x.others().active, 0u);
}

// The copy of an inactive account is not kept up to date.
TEST(completeness_census, accounts_that_are_away_are_not_counted) {
  completeness_census x;
  auto away = row_at("https://a.test");
  away.account = storage::account_status::deactivated;
  x.add(did_number(1), away, {});
  EXPECT_EQ(x.all().active, 0u);
  EXPECT_TRUE(x.hosts().empty());
}

TEST(completeness_census, the_oldest_incomplete_one_was_fetched_longest_ago) {
  completeness_census x;
  x.add(did_number(1), row_at("https://a.test", 300), {});
  x.add(did_number(2), row_at("https://b.test", 200), {});
  x.add(did_number(3), row_at("https://a.test", 250), {});
  x.add(did_number(4), row_at("https://a.test", 100), whole_terms());
  EXPECT_EQ(x.all().oldest, did_number(2));
  EXPECT_EQ(x.all().oldest_sync, 200);
  EXPECT_EQ(x.hosts().at("https://a.test").oldest, did_number(3));
  x.add(did_number(5), row_at("https://a.test", 0), {});
  EXPECT_EQ(x.all().oldest, did_number(5)); // This one was never compared.
}

// limits::completeness_hosts_max: at the limit each host is counted separately;
// above it the small ones are counted together, and none is lost.
TEST(completeness_census, hosts_without_number_are_counted_together) {
  constexpr auto most = limits::completeness_hosts_max;
  const auto count = [&](size_t hosts) {
    completeness_census x;
    for (size_t i = 0; i < hosts; ++i) {
      const auto host = "https://h" + std::to_string(i) + ".test";
      x.add(did_number(i), row_at(host), {});
      if (i % 2 == 0)
        x.add(did_number(hosts + i), row_at(host), {});
    }
    x.close();
    return x;
  };
  const auto at = count(most);
  EXPECT_EQ(at.hosts().size(), most);
  EXPECT_EQ(at.others().active, 0u);
  const auto above = count(most + 1);
  EXPECT_EQ(above.hosts().size(), most);
  EXPECT_EQ(above.others().active, 1u); // It is one of the smallest.
  const auto many = count(3 * most);
  EXPECT_EQ(many.hosts().size(), most);
  for (const auto& [host, x] : many.hosts())
    EXPECT_EQ(x.active, 2u) << host;
  uint64_t sum = many.others().active;
  for (const auto& [host, x] : many.hosts())
    sum += x.active;
  EXPECT_EQ(sum, many.all().active);
}

namespace {

/// What a look counts where one of two repos may be incomplete.
completeness_count look_that_counted(bool whole) {
  completeness_count out;
  out.active = 2;
  out.complete = whole ? 2 : 1;
  return out;
}

} // namespace

// limits::completeness_pause, limits::completeness_pause_whole
TEST(completeness_laps, a_look_follows_a_pause) {
  completeness_laps x;
  const steady_time begin{1'000'000'000};
  x.start(begin);
  constexpr std::chrono::microseconds pause = limits::completeness_pause;
  EXPECT_FALSE(x.next(begin + (pause - 1us)));
  auto now = begin + pause;
  ASSERT_TRUE(x.next(now));
  EXPECT_FALSE(x.next(now)); // It is being read.
  EXPECT_FALSE(x.due());
  x.on_page(did_number(7), false, now);
  EXPECT_EQ(x.next(now), did_number(7));
  x.on_end(look_that_counted(false), now);
  EXPECT_EQ(x.due(), now + std::chrono::microseconds{
                             limits::completeness_pause});
  now = *x.due();
  EXPECT_EQ(x.next(now), atproto::did{});
  x.on_end(look_that_counted(true), now);
  EXPECT_EQ(x.due(), now + std::chrono::microseconds{
                             limits::completeness_pause_whole});
}

// completeness_interval
TEST(completeness_laps, an_operator_makes_looks_rarer) {
  constexpr auto interval = 1h;
  completeness_laps x{interval};
  steady_time now{1'000'000'000};
  x.start(now);
  EXPECT_EQ(x.due(), now + interval);
  x.hurry(now);
  EXPECT_EQ(x.due(), now + interval);
  now = now + interval;
  ASSERT_TRUE(x.next(now));
  x.on_failure(now);
  EXPECT_EQ(x.due(), now + interval);
  now = now + interval;
  for (const auto whole : {false, true}) {
    ASSERT_TRUE(x.next(now));
    x.on_end(look_that_counted(whole), now);
    EXPECT_EQ(x.due(), now + interval);
    now = now + interval;
  }
}

// limits::completeness_rest_part, limits::completeness_pause_max,
// limits::uncovered_page_pause: hosts were asked
TEST(completeness_laps, a_long_page_is_followed_by_a_long_pause) {
  completeness_laps x;
  steady_time now{1'000'000'000};
  x.start(now);
  now = *x.due();
  const auto page = [&](std::chrono::microseconds lasting, bool end) {
    EXPECT_TRUE(x.next(now));
    now = now + lasting;
    if (end)
      x.on_end(look_that_counted(true), now);
    else
      x.on_page(did_number(7), true, now);
    const auto out = *x.due() - now;
    now = *x.due();
    return out;
  };
  constexpr std::chrono::microseconds most = limits::completeness_pause_max;
  constexpr auto part = limits::completeness_rest_part;
  EXPECT_EQ(page(1ms, false), limits::uncovered_page_pause);
  for (const auto end : {false, true}) {
    EXPECT_EQ(page(10s, end), 10s * part);
    EXPECT_EQ(page(most / part, end), most);
    EXPECT_EQ(page(most / part + 1s, end), most);
  }
}

// docs/completeness.md: the checks take at most a fiftieth of the time, however
// many pages there are
TEST(completeness_laps, a_store_of_any_size_is_read_for_a_part_of_the_time) {
  completeness_laps x;
  const steady_time begin{1'000'000'000};
  auto now = begin;
  std::chrono::microseconds read{0};
  x.start(now);
  for (size_t i = 0; i < 100'000; ++i) {
    now = *x.due();
    ASSERT_TRUE(x.next(now));
    now = now + 20ms;
    read += 20ms;
    x.on_page(did_number(7), false, now);
  }
  now = *x.due();
  EXPECT_LE(read * 50, now - begin);
  ASSERT_TRUE(x.next(now));
  x.on_end(look_that_counted(false), now);
  EXPECT_EQ(*x.due() - now, limits::completeness_pause);
}

// After a reset the next check need not wait until it is due.
TEST(completeness_laps, a_look_can_be_hurried_and_costs_what_it_may) {
  completeness_laps x;
  steady_time now{1'000'000'000};
  constexpr std::chrono::microseconds pause = limits::completeness_pause;
  x.start(now);
  now = *x.due();
  ASSERT_TRUE(x.next(now));
  x.on_end(look_that_counted(true), now);
  x.hurry(now);
  EXPECT_EQ(*x.due(), now + pause);
  now = *x.due();
  ASSERT_TRUE(x.next(now));
  x.hurry(now); // It is in progress.
  now = now + 10s;
  x.on_end(look_that_counted(true), now);
  x.hurry(now);
  EXPECT_EQ(*x.due() - now, 10s * limits::completeness_rest_part);
}

TEST(completeness_laps, what_cannot_be_read_is_read_again_from_the_start) {
  completeness_laps x;
  steady_time now{1'000'000'000};
  x.start(now);
  now = *x.due();
  ASSERT_TRUE(x.next(now));
  x.on_page(did_number(1), false, now);
  ASSERT_TRUE(x.next(now));
  x.on_failure(now);
  EXPECT_FALSE(x.next(now));
  EXPECT_EQ(x.next(*x.due()), atproto::did{});
}

} // namespace weir::actors
