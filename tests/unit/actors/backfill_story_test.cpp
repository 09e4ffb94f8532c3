#include "actors/support/backfill_story.hpp"
#include "actors/support/limits.hpp"
#include "actors/support/store_growth.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace weir::actors {
namespace {

using namespace std::chrono_literals;
using told = backfill_news::what;

constexpr steady_time story_begin{1'000'000'000};

/// A story that reports one thing at a time.
struct teller {
  std::optional<backfill_news> look(const backfill_counts& x, steady_time now) {
    const auto out = story.look(x, now);
    EXPECT_LE(out.size(), 1u);
    return out.empty() ? std::nullopt : std::optional{out[0]};
  }

  backfill_story story;
};

} // namespace

// limits::story_repos_min
TEST(backfill_story, many_are_told_of_at_once_and_few_are_not) {
  teller few;
  EXPECT_FALSE(few.look({limits::story_repos_min - 1, 0, 0}, story_begin));
  teller many;
  const auto begun = many.look({limits::story_repos_min, 7, 0}, story_begin);
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->is, told::begun);
  EXPECT_EQ(begun->at.waiting, limits::story_repos_min);
  EXPECT_EQ(begun->at.synced, 7u);
}

// limits::story_interval
TEST(backfill_story, how_far_they_are_is_told_with_rate_and_rest) {
  teller x;
  x.look({1'000, 0, 0}, story_begin);
  EXPECT_FALSE(
    x.look({500, 500, 0}, story_begin + (limits::story_interval - 1us)));
  const auto news = x.look({400, 595, 5}, story_begin + limits::story_interval);
  ASSERT_TRUE(news);
  EXPECT_EQ(news->is, told::progress);
  EXPECT_EQ(news->at.failed, 5u);
  EXPECT_DOUBLE_EQ(news->per_second, 595.0 / 30);
  ASSERT_TRUE(news->left);
  EXPECT_EQ(*news->left, 20s);
  // There is no progress.
  const auto stuck
    = x.look({400, 595, 5}, story_begin + 2 * limits::story_interval);
  ASSERT_TRUE(stuck);
  EXPECT_EQ(stuck->per_second, 0);
  EXPECT_FALSE(stuck->left);
}

TEST(backfill_story, the_end_is_told_once_with_the_time_it_took) {
  teller x;
  x.look({1'000, 0, 0}, story_begin);
  const backfill_counts all{0, 990, 10, {}, story_begin + 12s};
  EXPECT_FALSE(x.look(all, story_begin + 12s));
  const auto done = x.look(all, story_begin + 12s + limits::story_rest);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->is, told::done);
  EXPECT_EQ(done->at.synced, 990u);
  EXPECT_EQ(done->took, 12s);
  EXPECT_FALSE(x.look({0, 990, 10}, story_begin + 23s));
  EXPECT_FALSE(x.look({0, 990, 10}, story_begin + 1h)) << "nothing is new";
}

TEST(backfill_story, few_that_take_long_are_told_of) {
  teller x;
  EXPECT_FALSE(x.look({1, 9, 0}, story_begin));
  EXPECT_FALSE(x.look({1, 9, 0}, story_begin + (limits::story_interval - 1us)));
  const auto begun = x.look({1, 9, 0}, story_begin + limits::story_interval);
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->is, told::begun);
  const backfill_counts all{0, 10, 0, {}, story_begin + 40s};
  EXPECT_FALSE(x.look(all, story_begin + 40s));
  const auto done = x.look(all, story_begin + 40s + limits::story_rest);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->took, 40s);
}

// A user who adds the first repo looks at the log. On a large network a new
// repo comes every few seconds.
TEST(backfill_story, few_that_were_fast_are_told_of_together) {
  backfill_story x;
  const auto none = testing::IsEmpty();
  EXPECT_THAT(x.look({0, 0, 0}, story_begin), none);
  EXPECT_THAT(x.look({3, 2, 0}, story_begin + 1s), none);
  EXPECT_THAT(x.look({0, 5, 0}, story_begin + 2s), none);
  const auto rest = story_begin + 2s + limits::story_rest;
  EXPECT_THAT(x.look({0, 5, 0}, rest + -1us), none);
  const auto first = x.look({0, 5, 0}, rest);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].is, told::begun);
  EXPECT_EQ(first[0].at.waiting, 5u);
  EXPECT_EQ(first[1].is, told::done);
  EXPECT_EQ(first[1].at.synced, 5u);
  // The next ones wait, so that lines are not too frequent.
  EXPECT_THAT(x.look({0, 6, 0}, rest + 1s), none);
  EXPECT_THAT(x.look({0, 6, 0}, rest + (limits::story_interval - 1us)), none);
  EXPECT_EQ(x.look({0, 6, 0}, rest + limits::story_interval).size(), 2u);
}

TEST(backfill_story, few_that_never_rest_are_told_of_now_and_then) {
  backfill_story x;
  x.look({0, 0, 0}, story_begin);
  size_t lines = 0;
  for (uint64_t i = 1; i <= 600; ++i)
    lines += x.look({0, i / 4, 0}, story_begin + i * 1s).size();
  EXPECT_EQ(lines, 2 * (600s / (2 * limits::story_interval)));
}

// A first run is over before the second look.
TEST(backfill_story, many_that_were_fast_are_told_of_as_begun_and_done) {
  backfill_story x;
  x.look({0, 7, 0}, story_begin);
  const backfill_counts after{0, 7 + limits::story_repos_min, 1,
                              story_begin + 100ms, story_begin + 500ms};
  store_stats store;
  store.waits_since = 1;
  x.set_back(store, after, {});
  EXPECT_EQ(store.waits_since, 1) << "it is not told of yet";
  const auto begun = x.look(after, story_begin + 1s);
  ASSERT_EQ(begun.size(), 1u);
  EXPECT_EQ(begun[0].is, told::begun);
  EXPECT_EQ(begun[0].at.waiting, limits::story_repos_min);
  EXPECT_EQ(begun[0].at.synced, 7u);
  EXPECT_THAT(x.look(after, story_begin + 2s), testing::IsEmpty());
  const auto done = x.look(after, story_begin + 2s + limits::story_rest);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].is, told::done);
  EXPECT_EQ(done[0].at.synced, 7 + limits::story_repos_min);
  EXPECT_EQ(done[0].took, 400ms);
  EXPECT_DOUBLE_EQ(done[0].per_second, limits::story_repos_min / 0.4);
  x.set_back(store, after, {});
  EXPECT_EQ(store.waits_since, 0) << "the next fetch begins a new story";
  x.look({limits::story_repos_min, after.synced, 1}, story_begin + 1h);
  store.waits_since = 1;
  x.set_back(store, after, {});
  EXPECT_EQ(store.waits_since, 1) << "it runs";
}

TEST(backfill_story, its_time_is_that_of_the_fetches_and_not_of_the_looks) {
  teller x;
  x.look({0, 0, 0}, story_begin);
  ASSERT_TRUE(x.look({400, 100, 0, story_begin + 300ms, {}}, story_begin + 1s));
  const backfill_counts all{0, 500, 0, story_begin + 300ms,
                            story_begin + 2'800ms};
  EXPECT_FALSE(x.look(all, story_begin + 3s));
  const auto done = x.look(all, story_begin + 3s + limits::story_rest);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->took, 2'500ms);
  EXPECT_DOUBLE_EQ(done->per_second, 200);
}

// limits::story_rest: with slow look-ups no repo waits at the time of a look,
// but more follow.
TEST(backfill_story, one_that_is_slow_is_one_story_with_its_rate) {
  teller x;
  x.look({0, 0, 0}, story_begin);
  uint64_t synced = 0;
  size_t begun = 0;
  size_t progress = 0;
  auto now = story_begin;
  for (; synced < 4'000; synced += 40) {
    now = now + 1s;
    const auto news = x.look({0, synced + 40, 0, {}, now}, now);
    begun += news && news->is == told::begun;
    if (!news || news->is != told::progress)
      continue;
    ++progress;
    EXPECT_DOUBLE_EQ(news->per_second, 40);
    EXPECT_FALSE(news->left) << "nobody knows who is still to come";
  }
  EXPECT_EQ(begun, 1u);
  EXPECT_EQ(progress, 3u);
  const backfill_counts all{0, synced, 0, {}, now};
  EXPECT_FALSE(x.look(all, now + (limits::story_rest - 1us)));
  const auto done = x.look(all, now + limits::story_rest);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->is, told::done);
  EXPECT_EQ(done->at.synced, 4'000u);
}

// limits::story_repos_min: on a large network new repos come all the time.
TEST(backfill_story, newcomers_who_never_cease_do_not_keep_it_open) {
  for (const auto a_line : {limits::story_repos_min - 1, limits::story_repos_min}) {
    teller x;
    x.look({1'000, 0, 0}, story_begin);
    auto now = story_begin + limits::story_interval;
    const auto first = x.look({0, 1'000, 0}, now);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->is, told::progress);
    for (size_t i = 1; i < 30; ++i)
      EXPECT_FALSE(x.look({0, 1'000 + i, 0}, now + i * 1s)) << i;
    now = now + limits::story_interval;
    const auto second = x.look({0, 1'000 + a_line, 0}, now);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->is, a_line < limits::story_repos_min ? told::done
                                                           : told::progress);
  }
}

// limits::story_claims_rest: a directory that is slow, or asks for a pause
TEST(backfill_story, it_is_not_over_while_accounts_are_looked_up) {
  teller x;
  x.look({1'000, 0, 0}, story_begin);
  auto now = story_begin + 1s;
  backfill_counts some{0, 1'000, 0, {}, now, true};
  EXPECT_FALSE(x.look(some, now));
  size_t lines = 0;
  for (const auto end = now + (limits::story_claims_rest - 1s); now < end;) {
    now = now + 1s;
    const auto news = x.look(some, now);
    lines += news ? 1 : 0;
    EXPECT_FALSE(news && news->is == told::done);
    EXPECT_FALSE(news && news->left) << "nobody knows who is still to come";
  }
  EXPECT_EQ(lines, limits::story_claims_rest / limits::story_interval);
  // They were confirmed, and no repo waits any more.
  some.claimed = false;
  some.synced = 1'500;
  EXPECT_FALSE(x.look(some, now));
  const auto done = x.look(some, now + limits::story_rest);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->is, told::done);
  EXPECT_EQ(done->at.synced, 1'500u);
}

TEST(backfill_story, look_ups_that_never_end_do_not_keep_it_open) {
  for (const auto newcomers : {false, true}) {
    teller x;
    x.look({1'000, 0, 0}, story_begin);
    backfill_counts all{0, 1'000, 0, {}, {}, true};
    auto ended = story_begin;
    for (auto now = story_begin; ended == story_begin;) {
      ASSERT_LE(now - story_begin, 1h);
      now = now + 1s;
      all.synced += newcomers ? 1 : 0;
      if (const auto news = x.look(all, now); news && news->is == told::done)
        ended = now;
    }
    EXPECT_GE(ended - story_begin, limits::story_claims_rest);
    EXPECT_LE(ended - story_begin,
              limits::story_claims_rest + 2 * limits::story_interval);
  }
}

// Other collections: of 3,000 synced repos 30 fall out of sync and are fetched
// each second.
TEST(backfill_story, what_was_synced_before_counts_when_it_is_fetched_again) {
  teller x;
  backfill_counts at{0, 3'000, 0};
  at.outdated = 3'000;
  EXPECT_FALSE(x.look(at, story_begin));
  at.waiting = limits::story_repos_min;
  at.fallen = at.waiting;
  at.synced = 3'000;
  at.outdated -= at.waiting;
  auto now = story_begin + 1s;
  const auto begun = x.look(at, now);
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->at.waiting + begun->at.outdated, 3'000u);
  std::optional<backfill_news> progress;
  for (auto i = 0; i < 30; ++i) {
    now = now + 1s;
    at.fallen += 30;
    at.outdated -= 30;
    at.synced += 30;
    progress = x.look(at, now);
  }
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->at.synced_now(), 2'900u);
  EXPECT_DOUBLE_EQ(progress->per_second, 30);
  EXPECT_EQ(progress->left, 70s); // 2,000 are outdated, and 100 wait.
  at.waiting = at.outdated = 0;
  at.synced += 2'100;
  at.fallen += 2'000;
  EXPECT_FALSE(x.look(at, now + 1s));
  const auto done = x.look(at, now + 1s + limits::story_rest);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->at.synced_now(), 3'000u);
  EXPECT_EQ(done->took, now + 1s - story_begin - 1s);
  EXPECT_NEAR(done->per_second * 31, 3'000, 100);
}

// On a large network some repos always fall out of sync.
TEST(backfill_story, few_that_fell_out_of_sync_are_not_told_of) {
  teller x;
  backfill_counts at{0, 5'000, 0};
  EXPECT_FALSE(x.look(at, story_begin));
  for (auto now = story_begin; now < story_begin + 1h; now = now + 1s) {
    if (now.micros % 60'000'000 == 0) {
      ++at.fallen;
      ++at.synced;
    }
    EXPECT_FALSE(x.look(at, now));
  }
  ++at.synced; // A new repo is synced.
  EXPECT_EQ(x.story.look(at, story_begin + 2h).size(), 2u);
}

TEST(backfill_story, few_that_are_fetched_under_other_collections_are_told_of) {
  backfill_story x;
  backfill_counts at{0, 20, 0};
  at.outdated = 20;
  EXPECT_THAT(x.look(at, story_begin), testing::IsEmpty());
  at.synced = 40;
  at.fallen = 20;
  at.outdated = 0;
  EXPECT_THAT(x.look(at, story_begin + 1s), testing::IsEmpty());
  EXPECT_EQ(x.look(at, story_begin + 1s + limits::story_rest).size(), 2u);
}

// The numbers are read one by one while other threads change them.
TEST(backfill_story, a_count_that_seems_to_fall_is_nothing) {
  teller x;
  EXPECT_FALSE(x.look({0, 5'000, 0}, story_begin));
  EXPECT_FALSE(x.look({0, 4'999, 0}, story_begin + 1s));
  EXPECT_FALSE(x.look({0, 4'999, 0}, story_begin + 1h));
}

TEST(backfill_story, one_that_is_added_after_a_removal_is_told_of) {
  backfill_story x;
  backfill_counts at{0, 20, 0};
  EXPECT_THAT(x.look(at, story_begin), testing::IsEmpty());
  at.fallen = 1;
  EXPECT_THAT(x.look(at, story_begin + 1s), testing::IsEmpty());
  at.synced = 21;
  EXPECT_THAT(x.look(at, story_begin + 2s), testing::IsEmpty());
  EXPECT_EQ(x.look(at, story_begin + 2s + limits::story_rest).size(), 2u);
}

TEST(backfill_story, what_an_earlier_start_fetched_is_no_news) {
  teller x;
  EXPECT_FALSE(x.look({0, 5'000, 0}, story_begin));
  EXPECT_FALSE(x.look({0, 5'000, 0}, story_begin + 1h));
}

// limits::growth_interval, limits::growth_memory
TEST(store_growth, it_is_that_of_the_last_day) {
  const auto of = [](uint64_t bytes) {
    storage::family_sizes out{};
    out[1] = bytes;
    return out;
  };
  store_growth x;
  EXPECT_FALSE(x.per_day());
  x.note(of(1'000), story_begin);
  EXPECT_FALSE(x.per_day());
  x.note(of(1'500), story_begin + (limits::growth_interval - 1us));
  EXPECT_EQ(x.sizes()[1], 1'500u);
  EXPECT_FALSE(x.per_day()) << "too short a time says nothing";
  x.note(of(2'000), story_begin + limits::growth_interval);
  ASSERT_TRUE(x.per_day());
  EXPECT_DOUBLE_EQ(*x.per_day(), 144'000);
  store_growth y;
  y.note(of(0), story_begin);
  y.note(of(500), story_begin + 12h);
  y.note(of(1'000), story_begin + limits::growth_memory);
  EXPECT_DOUBLE_EQ(*y.per_day(), 1'000);
  y.note(of(500), story_begin + (limits::growth_memory + 1h));
  EXPECT_DOUBLE_EQ(*y.per_day(), 0) << "the first one is forgotten";
}

} // namespace weir::actors
