#include "actors/support/completeness.hpp"
#include "actors/support/limits.hpp"
#include "tests/unit/actors/listing_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// The texts in which a node reports completeness and how far a stream is.

namespace weir::actors {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr steady_time late{1'000'000'000};
constexpr std::chrono::microseconds quiet = limits::passed_quiet_min;

upstream_view told_relay() {
  upstream_view out;
  out.id = 7;
  out.origin = "https://relay.test";
  out.relay = true;
  out.epoch = 3;
  out.first_cursor = 9'100;
  out.connected = out.live = true;
  out.quiet_since = steady_time{};
  return out;
}

std::string words(const char* term, const storage::repo_row& row,
                  const upstream_view& upstream) {
  for (size_t i = 0; i < completeness::all_terms.size(); ++i)
    if (std::string_view{completeness::all_terms[i].name} == term)
      return completeness::reason(i, row, nullptr, upstream, 4);
  ADD_FAILURE() << term;
  return {};
}

storage::repo_row some_row() {
  storage::repo_row out;
  out.pds = "https://pds.test";
  out.fcsr = {7, 2, 17};
  out.first_rev = atproto::tid::parse("3jzfcijpj2z2b").value();
  out.last_indexed_rev = atproto::tid::parse("3jzfcijpj2z2a").value();
  out.filter_generation = 2;
  out.status = storage::repo_status::desync;
  out.error = "asked for";
  return out;
}

} // namespace

// CONS-11 to CONS-13: with the numbers
TEST(completeness_words, every_reason_has_its_numbers) {
  const auto row = some_row();
  const auto relay = told_relay();
  EXPECT_THAT(words("covered", row, {}), HasSubstr("https://pds.test"));
  EXPECT_THAT(words("covered", row, relay),
              testing::StartsWith("https://relay.test does not list it, and its "
                                  "host https://pds.test has it"));
  const auto position = words("position_current", row, relay);
  EXPECT_THAT(
    position,
    HasSubstr("https://relay.test has no gap since epoch 3, seq 9100"));
  EXPECT_THAT(position, HasSubstr("epoch 2, seq 17"));
  const auto revs = words("indexed_past_first_rev", row, relay);
  EXPECT_THAT(revs, HasSubstr("3jzfcijpj2z2a"));
  EXPECT_THAT(revs, HasSubstr("3jzfcijpj2z2b"));
  const auto filters = words("filter_current", row, relay);
  EXPECT_THAT(filters, HasSubstr("filter 2"));
  EXPECT_THAT(filters, HasSubstr("filter 4"));
  EXPECT_EQ(words("synced", row, relay), "its status is desync: asked for");
  EXPECT_THAT(words("no_gap", row, relay), HasSubstr("dropped"));
  EXPECT_THAT(words("first_rev_set", row, relay), HasSubstr("named a rev"));
}

TEST(completeness_words, what_never_was_is_said) {
  auto row = some_row();
  EXPECT_EQ(words("upstream_live", row, {}), "no upstream covers it");
  EXPECT_EQ(words("position_current", row, {}),
            "there is no upstream by whose position it could be proved");
  row.filter_generation = 0;
  EXPECT_EQ(words("filter_current", row, told_relay()), "it was never fetched");
  EXPECT_EQ(words("indexed_past_first_rev", row, told_relay()),
            "there is no copy of it");
}

TEST(completeness_words, a_position_says_which_upstream_it_is_of) {
  auto row = some_row();
  row.fcsr = {9, 1, 1};
  EXPECT_THAT(words("position_current", row, told_relay()),
              HasSubstr("proved with upstream 9"));
  row.fcsr = {};
  EXPECT_THAT(words("position_current", row, told_relay()),
              HasSubstr("never compared"));
}

TEST(completeness_words, a_stream_that_is_not_live_says_why) {
  const auto row = some_row();
  auto x = told_relay();
  x.connected = false;
  x.last_error = "refused";
  EXPECT_EQ(words("upstream_live", row, x),
            "the stream of https://relay.test is not open: refused");
  x.connected = true;
  x.stalls = true;
  EXPECT_THAT(words("upstream_live", row, x), HasSubstr("is not read"));
  x.stalls = false;
  x.received = 9'300;
  EXPECT_THAT(words("upstream_live", row, x), HasSubstr("it is at 9300"));
  x.first_cursor = 0;
  EXPECT_THAT(words("upstream_live", row, x), HasSubstr("was reset"));
}

// completeness.md, The terms (`upstream_live`): events from before the
// connection are on their way until later ones have come, or none has come for
// ten seconds
TEST(completeness_words, a_stream_proves_nothing_before_it_has_caught_up) {
  upstream_board board;
  auto x = told_relay();
  x.caught_up = false;
  x.opened_at = late + 3s;
  x.quiet_since = late;
  const auto wall = wall_time{1'000'000'000};
  const auto live_at = [&](steady_time now, wall_time at) {
    board.put(x);
    return completeness::accounting(board, "https://pds.test", now, at).live;
  };
  const auto rested = x.opened_at + limits::catch_up_quiet_min;
  x.passed = wall_time{0};
  EXPECT_FALSE(live_at(rested + -1us, wall)) << "a replay may begin late";
  EXPECT_TRUE(live_at(rested, wall));
  x.quiet_since.reset();
  EXPECT_FALSE(live_at(late + 1h, wall));
  // The present clock counts, whatever it showed when the stream was opened.
  const auto now = x.opened_at + 60s;
  x.passed = wall + -60s;
  EXPECT_TRUE(live_at(now, wall));
  EXPECT_FALSE(live_at(now, wall + 1us));
  x.caught_up = true;
  EXPECT_TRUE(live_at(now, wall + 1us));
  x.stalls = true;
  EXPECT_FALSE(live_at(now, wall));
  x.stalls = x.live = false;
  EXPECT_FALSE(live_at(now, wall));
}

// completeness.md, The terms (`upstream_live`): it must be read, and not far
// behind
TEST(completeness_words, a_stream_that_is_not_read_or_lags_proves_nothing) {
  auto x = told_relay();
  const auto wall = wall_time{1'000'000'000};
  x.caught_up = true;
  x.quiet_since.reset();
  x.passed = wall + -limits::stream_lag_max;
  EXPECT_TRUE(x.proves(late, wall));
  EXPECT_FALSE(x.proves(late, wall + 1us)) << "behind, and busy";
  x.rested_at = late + -limits::stream_lag_max;
  EXPECT_TRUE(x.proves(late, wall + 1us)) << "it rested these minutes ago";
  EXPECT_FALSE(x.proves(late + 1us, wall + 1us));
  x.quiet_since = late + -limits::passed_quiet_min;
  EXPECT_TRUE(x.proves(late + 1us, wall + 1us)) << "nothing is on its way";
  x.read = false;
  EXPECT_FALSE(x.proves(late, wall));
  EXPECT_THAT(words("upstream_live", {}, x), HasSubstr("shortage"));
}

TEST(completeness_words, a_stream_is_behind_by_what_it_has_not_passed) {
  auto x = told_relay();
  x.quiet_since.reset();
  x.passed = wall_time{10'000'000};
  x.sent_until = wall_time{12'000'000};
  EXPECT_EQ(x.staleness(wall_time{15'000'000}, late, quiet), 3);
  EXPECT_EQ(x.staleness(wall_time{11'000'000}, late, quiet), 0);
  x.quiet_since = late;
  EXPECT_EQ(x.staleness(wall_time{15'000'000}, late + quiet, quiet), 0);
  x.connected = false;
  EXPECT_EQ(x.staleness(wall_time{15'000'000}, late + quiet, quiet), 3);
}

TEST(completeness_words, a_board_knows_when_an_upstream_was_audited) {
  upstream_board board;
  board.put(told_relay());
  EXPECT_EQ(board.audited(7), 0);
  board.set_audited(7, 50);
  // This comes from its UPSTREAM, which knows nothing of it.
  board.put(told_relay());
  EXPECT_EQ(board.audited(7), 50);
}

// CONS-29: a repo that a listing left out is asked about when that was compared
TEST(listing_machine, a_listing_is_compared_in_its_epoch) {
  using namespace weir::tests;
  listing_run x;
  const listing_id all{x.stream.id, {}};
  EXPECT_FALSE(x.machine.is_compared(all, 1));
  ASSERT_TRUE(x.want());
  EXPECT_FALSE(x.machine.is_compared(all, 1)) << "it is under way";
  x.page("");
  EXPECT_TRUE(x.machine.is_compared(all, 1));
  EXPECT_FALSE(x.machine.is_compared(all, 2));
  if (!x.want({1, 2, 5})) { // The stream must deliver everything first.
    EXPECT_FALSE(x.machine.is_compared(all, 2));
    x.pass(listing_grace);
    ASSERT_TRUE(x.tick());
  }
  EXPECT_FALSE(x.machine.is_compared(all, 2));
  x.fail_page(ec::unreachable);
  EXPECT_TRUE(x.machine.is_compared(all, 2)) << "it fails";
}

} // namespace weir::actors
