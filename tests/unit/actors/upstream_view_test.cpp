#include "actors/support/upstream_view.hpp"

#include <gtest/gtest.h>

#include <set>

/// The upstreams that may raise a doubt about a repo (completeness.md, The
/// terms).
namespace weir::tests {
namespace {

using namespace weir::actors;

constexpr auto host = "https://pds.test";

upstream_view view_of(uint32_t id, std::string origin, bool relay,
                      bool connected) {
  upstream_view out;
  out.id = id;
  out.origin = std::move(origin);
  out.relay = relay;
  out.connected = connected;
  return out;
}

/// Two relays, of which the first is disconnected, and a PDS of other accounts.
struct two_relays {
  two_relays() {
    board.put(view_of(1, "https://dead.test", true, false));
    board.put(view_of(2, "https://relay.test", true, true));
    board.put(view_of(3, "https://other.test", false, true));
  }

  upstream_board board;
};

// CONS-11: neither the order of the relays in the configuration nor their
// connection matters
TEST(upstream_board, every_relay_speaks_for_a_host_that_has_no_stream) {
  const two_relays x;
  for (const auto* pds : {host, ""}) {
    EXPECT_TRUE(x.board.speaks_for(pds, 1));
    EXPECT_TRUE(x.board.speaks_for(pds, 2));
    EXPECT_FALSE(x.board.speaks_for(pds, 3)) << "another host";
    EXPECT_FALSE(x.board.speaks_for(pds, 4)) << "not followed";
  }
}

// While the host is connected, a relay's statements about it do not count
TEST(upstream_board, relays_speak_for_a_host_only_while_it_is_away) {
  two_relays x;
  for (const auto connected : {true, false}) {
    x.board.put(view_of(4, host, false, connected));
    EXPECT_EQ(x.board.speaks_for(host, 1), !connected);
    EXPECT_EQ(x.board.speaks_for(host, 2), !connected);
    EXPECT_FALSE(x.board.speaks_for(host, 3));
    EXPECT_TRUE(x.board.speaks_for(host, 4)) << "in any case";
  }
}

// A stream without a listing does not show a missed deletion
TEST(upstream_board, relays_speak_for_a_host_that_is_not_among_the_heard) {
  two_relays x;
  x.board.put(view_of(4, host, false, true));
  for (const auto& heard : {std::set<uint32_t>{}, std::set<uint32_t>{1, 2}}) {
    EXPECT_TRUE(x.board.speaks_for(host, 2, &heard));
    EXPECT_TRUE(x.board.speaks_for(host, 4, &heard));
  }
  const std::set<uint32_t> heard{4};
  EXPECT_FALSE(x.board.speaks_for(host, 2, &heard));
  EXPECT_TRUE(x.board.speaks_for(host, 4, &heard));
  x.board.put(view_of(4, host, false, false));
  EXPECT_TRUE(x.board.speaks_for(host, 2, &heard)) << "it was heard, once";
}

// CONS-20: otherwise `complete` would change with every connection
TEST(upstream_board, one_upstream_accounts_for_a_repo_whoever_is_away) {
  two_relays x;
  EXPECT_EQ(x.board.accounting_for(host).id, 1u);
  for (const auto connected : {true, false}) {
    x.board.put(view_of(4, host, false, connected));
    EXPECT_EQ(x.board.accounting_for(host).id, 4u);
  }
}

// The last frames were late, so a silence of the usual length proves nothing.
TEST(upstream_view, after_late_frames_a_longer_silence_proves) {
  using namespace std::chrono_literals;
  const steady_time now{7'200'000'000};
  const wall_time wall{1'700'000'000'000'000};
  auto x = view_of(1, host, true, true);
  x.live = true;
  x.first_cursor = 1;
  x.epoch = 1;
  x.quiet_min = 60s;
  x.quiet_since = now + -(x.quiet_min - 1us);
  EXPECT_FALSE(x.proves(now, wall));
  EXPECT_FALSE(x.sent_all(wall, now, 10s));
  x.passed = wall + -2h;
  EXPECT_EQ(x.staleness(wall, now, 10s), 7'200);
  x.quiet_since = now + -x.quiet_min;
  EXPECT_TRUE(x.proves(now, wall));
  EXPECT_TRUE(x.sent_all(wall, now, 10s));
  EXPECT_EQ(x.staleness(wall, now, 10s), 0);
  EXPECT_FALSE(x.sent_all(wall, now, 61s)) << "a longer grace counts";
}

TEST(upstream_view, of_a_new_stream_the_time_since_its_opening_is_told) {
  using namespace std::chrono_literals;
  const steady_time now{7'200'000'000};
  const wall_time wall{1'700'000'000'000'000};
  auto x = view_of(1, host, true, true);
  x.opened_at = now + -90s;
  EXPECT_EQ(x.staleness(wall, now, 10s), 90);
  x.sent_until = wall + -30s;
  EXPECT_EQ(x.staleness(wall, now, 10s), 30);
  x.sent_until = {};
  x.connected = false;
  EXPECT_EQ(x.staleness(wall, now, 10s), 0) << "it never was";
}

} // namespace
} // namespace weir::tests
