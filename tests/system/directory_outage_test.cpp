#include "tests/system/followed_node.hpp"

#include <gtest/gtest.h>

// A directory that is down while keys rotate and accounts move
// (protocol-coverage.md 2.5.6). When it is up again, each repo becomes equal to
// its source without the account's next commit and without a listing.

namespace weir::tests {

namespace {

using simnet::fault_kind;
using namespace std::chrono_literals;

constexpr auto events = "weir_repo_events_total";
constexpr auto listed = "weir_listing_finished_total";
constexpr auto connected = "weir_upstream_connected";
constexpr size_t accounts = 6;

class DirectoryOutageTest : public followed_node, public testing::Test {
protected:
  DirectoryOutageTest() : followed_node(41, accounts, 60) {
    // nop
  }

  /// After its first listing a host is not listed again for an hour, even after
  /// a start or a lost connection.
  /// @param direct Follows the streams of the hosts, not the relay's.
  void start(bool direct) {
    run(arguments(direct,
                  {"--listing-interval", "24h", "--listing-requests-per-hour",
                   "1", "--listing-grace", "1h"}));
  }

  /// Waits until everything is synced, each stream is live, and no listing is
  /// due.
  void start_synced(bool direct) {
    start(direct);
    const auto upstreams
      = direct ? net.urls().hosts : std::vector{net.urls().relay};
    EXPECT_TRUE(eventually(node_patience, [&] {
      return metric(listed) >= upstreams.size()
             && metric(connected) == upstreams.size();
    }));
    expect_equal();
    listings = metric(listed);
  }

  /// Otherwise a listing may have repaired it.
  void expect_nothing_listed() {
    EXPECT_EQ(metric(listed), listings);
    EXPECT_EQ(count("listing_mismatch"), 0u);
  }

  void expect_equal() {
    EXPECT_TRUE(eventually(node_patience,
                           [this] {
                             const auto now = status_of(*web, at);
                             return now.synced == now.repos
                                    && now.repos == accounts
                                    && difference().empty();
                           }))
      << difference() << tail_of(node->errors());
  }

  /// Number of events of repos with this result.
  uint64_t count(const std::string& result) {
    return metric(events, "result=\"" + result + '"');
  }

  /// Waits until the node has taken three commits and the #sync of each of
  /// three accounts. They are kept until a newer document comes, except:
  /// - the #sync of a migration through the relay, which no known key proves;
  /// - events of a new host before an event of the former host has raised
  ///   doubt: streams have no order, so the former host's event may come before
  ///   the new host's #identity. The repo is fetched when the document names
  ///   the new host.
  void await_taken(uint64_t before = 0) {
    constexpr uint64_t frames = 3 * (3 + 1);
    EXPECT_TRUE(eventually(node_patience, [&] {
      return taken() == before + frames;
    })) << taken() - before;
  }

  uint64_t taken() {
    return count("buffered") + count("inactive_account")
           + count("sync_refused");
  }

  void end_in_the_middle(bool kills, bool direct) {
    start_synced(direct);
    inject(fault_kind::directory_down, {}, 0);
    for (size_t i = 0; i < 3; ++i) {
      inject(i == 1 ? fault_kind::migrate : fault_kind::rotate_key, i);
      post(i);
    }
    await_taken();
    kills ? kill_node() : stop();
    start(direct);
    listings = 0;
    inject(fault_kind::directory_up, {}, 1);
    expect_equal();
    expect_nothing_listed();
    kill_node();
  }

  uint64_t listings = 0; ///< Listings that ended before the directory was down.
};

} // namespace

// protocol-coverage.md 2.5.6, 7.6; actors.md, A document that may be old
TEST_F(DirectoryOutageTest, AKeyRotationDuringItLosesNothing) {
  for (const auto direct : {false, true}) {
    start_synced(direct);
    const auto before = taken();
    inject(fault_kind::directory_down, {}, 0);
    for (size_t i = 0; i < 3; ++i) {
      inject(fault_kind::rotate_key, i);
      post(i);
    }
    await_taken(before);
    inject(fault_kind::directory_up, {}, 1);
    expect_equal();
    expect_nothing_listed();
    EXPECT_EQ(count("bad_signature"), 0u);
    stop();
  }
}

// protocol-coverage.md 2.5.6; limits::repo_wait_max: an answer that is late
// counts as none
TEST_F(DirectoryOutageTest, OneThatIsSlowLosesNothing) {
  start_synced(false);
  simnet::fault slow;
  slow.kind = fault_kind::directory_slow;
  slow.time = 5s; // This is longer than a frame may wait.
  slow.count = 0;
  ASSERT_TRUE(net.life().faults().inject(slow));
  for (size_t i = 0; i < 3; ++i) {
    inject(fault_kind::rotate_key, i);
    post(i);
  }
  await_taken();
  expect_equal();
  expect_nothing_listed();
  EXPECT_EQ(count("bad_signature"), 0u);
}

// protocol-coverage.md 2.1.2, 4.1, 4.6: a newer document decides about the
// former host's events, too
TEST_F(DirectoryOutageTest, AMigrationBehindTwoHostsLosesNothing) {
  start_synced(true);
  inject(fault_kind::directory_down, {}, 0);
  for (size_t i = 0; i < 3; ++i) {
    inject(fault_kind::migrate, i);
    post(i);
  }
  await_taken();
  inject(fault_kind::directory_up, {}, 1);
  expect_equal();
  expect_nothing_listed();
}

// architecture.md I4: the frames that were kept are lost, but the mark on the
// repo is not
TEST_F(DirectoryOutageTest, AKillInTheMiddleOfItLosesNothing) {
  for (const auto direct : {false, true})
    end_in_the_middle(true, direct);
}

// protocol-coverage.md 2.5.6: the same when the frames do not come again
TEST_F(DirectoryOutageTest, AnEndInTheMiddleOfItLosesNothing) {
  for (const auto direct : {false, true})
    end_in_the_middle(false, direct);
}

} // namespace weir::tests
