#include "actors/repo/completeness_machine.hpp"
#include "actors/support/limits.hpp"
#include "atproto/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::actors::completeness {
namespace {

using storage::repo_row;
using storage::repo_status;
using testing::ElementsAre;

atproto::tid rev_of(uint64_t x) {
  return atproto::tid{x << 20};
}

upstream_view live_upstream() {
  upstream_view out;
  out.id = 7;
  out.epoch = 2;
  out.first_cursor = 100;
  out.live = true;
  return out;
}

repo_row whole_row() {
  repo_row out;
  out.status = repo_status::synced;
  out.fcsr = {7, 2, 100};
  out.first_rev = rev_of(5);
  out.last_indexed_rev = rev_of(5);
  out.filter_generation = 3;
  return out;
}

std::vector<std::string> why_not(const repo_row& row,
                                 const upstream_view& upstream,
                                 const storage::chain_row* chain = nullptr,
                                 uint32_t generation = 3) {
  const auto out = explain(row, chain, upstream, generation);
  std::vector<std::string> missing;
  for (const auto& x : all_terms)
    if (!(out.*x.holds))
      missing.emplace_back(x.name);
  EXPECT_EQ(out.complete(), missing.empty());
  return missing;
}

// CONS-10 to CONS-13
TEST(completeness, a_repo_for_which_every_term_holds_is_complete) {
  EXPECT_TRUE(why_not(whole_row(), live_upstream()).empty());
}

// completeness.md, The terms: a copy whose changes nobody would report is not
// complete
TEST(completeness, a_repo_that_no_upstream_covers_is_not_complete) {
  EXPECT_THAT(why_not(whole_row(), upstream_view{}),
              ElementsAre("covered", "upstream_live", "position_current"));
}

// CONS-11: the upstream's stream is live
TEST(completeness, a_stream_that_is_not_live_proves_nothing) {
  auto upstream = live_upstream();
  upstream.live = false;
  EXPECT_THAT(why_not(whole_row(), upstream), ElementsAre("upstream_live"));
}

// CONS-02, CONS-13
TEST(completeness, an_older_or_foreign_or_unset_position_is_not_current) {
  for (const auto& fcsr : {position{7, 2, 99}, position{7, 1, 9'999},
                           position{8, 2, 100}, position{}}) {
    auto row = whole_row();
    row.fcsr = fcsr;
    EXPECT_THAT(why_not(row, live_upstream()),
                ElementsAre("position_current"));
  }
  auto unset = live_upstream();
  unset.first_cursor = 0;
  EXPECT_THAT(why_not(whole_row(), unset), ElementsAre("position_current"));
}

// CONS-07: unset is never complete
TEST(completeness, a_repo_without_a_first_rev_is_not_complete) {
  auto row = whole_row();
  row.first_rev = {};
  EXPECT_THAT(why_not(row, live_upstream()),
              ElementsAre("first_rev_set", "indexed_past_first_rev"));
}

// CONS-12, CONS-28
TEST(completeness, the_index_must_reach_the_first_rev) {
  auto row = whole_row();
  row.first_rev = rev_of(6);
  EXPECT_THAT(why_not(row, live_upstream()),
              ElementsAre("indexed_past_first_rev"));
  storage::chain_row chain;
  chain.rev = rev_of(6); // Applied from the stream.
  EXPECT_TRUE(why_not(row, live_upstream(), &chain).empty());
}

// CONS-27
TEST(completeness, a_repo_that_was_never_indexed_is_not_complete) {
  auto row = whole_row();
  row.last_indexed_rev = {};
  storage::chain_row chain;
  chain.rev = rev_of(9);
  EXPECT_THAT(why_not(row, live_upstream(), &chain),
              ElementsAre("indexed_past_first_rev"));
}

// completeness.md, The terms; SYNC-02, SYNC-20
TEST(completeness, filter_gap_and_status_are_terms_of_their_own) {
  EXPECT_THAT(why_not(whole_row(), live_upstream(), nullptr, 4),
              ElementsAre("filter_current"));
  auto gap = whole_row();
  gap.gap = true;
  EXPECT_THAT(why_not(gap, live_upstream()), ElementsAre("no_gap"));
  for (const auto status : {repo_status::pending, repo_status::syncing,
                            repo_status::error, repo_status::desync}) {
    auto row = whole_row();
    row.status = status;
    EXPECT_THAT(why_not(row, live_upstream()), ElementsAre("synced"));
  }
}

// CONS-19, CONS-20
TEST(completeness, an_event_writes_the_row_once_per_reset) {
  auto row = whole_row();
  EXPECT_FALSE(on_event(row, {7, 2, 100}, rev_of(8)));
  EXPECT_EQ(row.first_rev, rev_of(5));
  EXPECT_TRUE(on_event(row, {7, 3, 4}, rev_of(9)));
  EXPECT_EQ(row.first_rev, rev_of(9));
  EXPECT_EQ(row.fcsr, (position{7, 3, 4}));
  EXPECT_FALSE(on_event(row, {7, 3, 4}, rev_of(10)));
  EXPECT_FALSE(on_event(row, {}, rev_of(11)));
}

// CONS-21
TEST(completeness, an_event_without_its_changes_renews_the_position_always) {
  auto row = whole_row();
  EXPECT_TRUE(on_event(row, {7, 2, 100}, rev_of(8), true));
  EXPECT_EQ(row.first_rev, rev_of(8));
  EXPECT_EQ(row.fcsr, (position{7, 2, 100}));
  EXPECT_THAT(why_not(row, live_upstream()),
              ElementsAre("indexed_past_first_rev"));
  // A frame that was sent before the reset does not restore the old position.
  EXPECT_TRUE(on_event(row, {7, 1, 50}, rev_of(9), true));
  EXPECT_EQ(row.first_rev, rev_of(9));
  EXPECT_EQ(row.fcsr, (position{7, 2, 100}));
  EXPECT_FALSE(on_event(row, {}, rev_of(10), true));
  on_indexed(row, {7, 2, 100}, rev_of(9), 3);
  EXPECT_TRUE(why_not(row, live_upstream()).empty());
}

// CONS-26: the position of a former upstream does not count
TEST(completeness, an_event_of_a_new_upstream_starts_anew) {
  auto row = whole_row();
  EXPECT_TRUE(on_event(row, {8, 1, 1}, rev_of(9)));
  EXPECT_EQ(row.fcsr, (position{8, 1, 1}));
}

// CONS-25
TEST(completeness, a_listing_fills_an_unset_rev_and_proves_a_quiet_repo) {
  auto fresh = whole_row();
  fresh.first_rev = {};
  EXPECT_TRUE(on_listed(fresh, {7, 3, 9}, rev_of(7), rev_of(5), {}));
  EXPECT_EQ(fresh.first_rev, rev_of(7));
  EXPECT_EQ(fresh.fcsr, (position{7, 3, 9}));

  auto quiet = whole_row();
  EXPECT_TRUE(on_listed(quiet, {7, 3, 9}, rev_of(5), rev_of(5), {}));
  EXPECT_EQ(quiet.fcsr, (position{7, 3, 9}));

  auto moved = whole_row();
  EXPECT_FALSE(on_listed(moved, {7, 3, 9}, rev_of(7), rev_of(5), {}));
  EXPECT_EQ(moved.fcsr, (position{7, 2, 100}));

  auto unknown = whole_row();
  unknown.first_rev = {};
  EXPECT_FALSE(on_listed(unknown, {}, rev_of(7), rev_of(5), {}));
  EXPECT_FALSE(unknown.first_rev.defined());
}

// CONS-25: the listing may lag behind the stream, like the download.
// limits::lacked_rev_pause, and a second less
TEST(completeness, a_listing_may_take_back_what_no_fetch_brought) {
  constexpr std::chrono::seconds pause = limits::lacked_rev_pause;
  for (const auto after : {pause - std::chrono::seconds{1}, pause}) {
    auto row = whole_row();
    row.first_rev = rev_of(6);
    row.last_sync = 1'000;
    const auto now = wall_time{} + (std::chrono::seconds{1'000} + after);
    EXPECT_FALSE(on_listed(row, {7, 2, 100}, rev_of(6), rev_of(5), now));
    EXPECT_FALSE(on_listed(row, {7, 2, 100}, rev_of(5), rev_of(5), {}))
      << "our clock was ahead, so it is not known when the fetch was";
    EXPECT_EQ(on_listed(row, {7, 2, 100}, rev_of(5), rev_of(5), now),
              after == pause);
    EXPECT_EQ(row.first_rev, after == pause ? rev_of(5) : rev_of(6));
  }
}

// ADR 20: a stream without events has a new epoch with each connection, and its
// host may list the rev of a lagging replica right after that.
TEST(completeness, a_new_epoch_takes_nothing_back_sooner) {
  auto row = whole_row();
  row.first_rev = rev_of(6);
  row.last_sync = 1'000;
  const auto over = wall_time{} + std::chrono::seconds{1'000}
                    + std::chrono::seconds{limits::lacked_rev_pause};
  EXPECT_FALSE(on_listed(row, {7, 3, 9}, rev_of(5), rev_of(5),
                         {over.micros - 1'000'000}));
  EXPECT_TRUE(on_listed(row, {7, 3, 9}, rev_of(5), rev_of(5), over));
  EXPECT_EQ(row.first_rev, rev_of(5));
  EXPECT_EQ(row.fcsr, (position{7, 3, 9}));
  row.first_rev = rev_of(6);
  EXPECT_FALSE(on_listed(row, {7, 2, 100}, rev_of(5), rev_of(5), over))
    << "the listing is from before";
}

// CONS-28
TEST(completeness, a_copy_without_the_rev_that_was_listed_is_not_whole) {
  for (const auto& noted : {position{}, position{7, 2, 100}, position{7, 3, 9}}) {
    auto row = whole_row();
    row.listed_rev = rev_of(9);
    on_indexed(row, noted, rev_of(8), 3);
    EXPECT_EQ(row.last_indexed_rev, rev_of(8));
    EXPECT_EQ(row.first_rev, rev_of(9));
    EXPECT_TRUE(needs_index(row, rev_of(8)));
    EXPECT_FALSE(needs_index(row, rev_of(9))) << "an event brought it";
  }
}

// limits::lacked_rev_pause, limits::lacked_rev_pause_max, and a second less;
// limits::rev_future_max, and a microsecond more
TEST(completeness, a_fetch_that_lacked_a_rev_is_repeated_after_growing_pauses) {
  constexpr auto pause = std::chrono::seconds{limits::lacked_rev_pause}.count();
  constexpr auto most
    = std::chrono::seconds{limits::lacked_rev_pause_max}.count();
  constexpr int64_t made_at = 2'000'000'000;
  const auto at = [](int64_t x) { return wall_time{x * 1'000'000}; };
  auto row = whole_row();
  row.first_rev = atproto::tid::from_time(at(made_at), 1);
  for (const auto& [fetched_after, pauses] :
       {std::pair{int64_t{1}, pause}, std::pair{pause, pause},
        std::pair{pause + 1, pause + 1}, std::pair{most, most},
        std::pair{most + 1, most}}) {
    row.last_sync = made_at + fetched_after;
    EXPECT_TRUE(lacks_named_rev(row, at(row.last_sync + pauses - 1)));
    EXPECT_FALSE(lacks_named_rev(row, at(row.last_sync + pauses)));
    EXPECT_FALSE(lacks_named_rev(row, at(row.last_sync - 1)))
      << "our clock was wrong";
  }
  row.last_sync = made_at;
  EXPECT_FALSE(lacks_named_rev(row, at(made_at))) << "it may be newer";
  row.last_sync = made_at - 2 * most;
  const auto believed
    = row.first_rev.time().micros
      - std::chrono::microseconds{limits::rev_future_max}.count();
  EXPECT_TRUE(lacks_named_rev(row, {believed - 1}));
  EXPECT_FALSE(lacks_named_rev(row, {believed}));
  row.last_sync = made_at + 1;
  row.last_indexed_rev = {};
  EXPECT_FALSE(lacks_named_rev(row, at(made_at + 1))) << "never fetched";
}

// CONS-06, CONS-14, CONS-30: raised, never lowered
TEST(completeness, an_index_raises_the_position_and_never_lowers_it) {
  auto row = whole_row();
  on_indexed(row, {7, 3, 9}, rev_of(8), 4);
  EXPECT_EQ(row.last_indexed_rev, rev_of(8));
  EXPECT_EQ(row.first_rev, rev_of(8));
  EXPECT_EQ(row.fcsr, (position{7, 3, 9}));
  EXPECT_EQ(row.filter_generation, 4u);
  on_indexed(row, {7, 2, 100}, rev_of(9), 4);
  EXPECT_EQ(row.fcsr, (position{7, 3, 9}));
  EXPECT_EQ(row.first_rev, rev_of(8));
  EXPECT_EQ(row.last_indexed_rev, rev_of(9));
}

} // namespace
} // namespace weir::actors::completeness
