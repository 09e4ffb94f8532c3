#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <algorithm>
#include <iostream>

// Hosts that accept every connection and never answer; each is an origin of its
// own.

namespace weir::tests {

namespace {

constexpr size_t mute_hosts = 150;
constexpr size_t honest_repos = 20;

live_repo account(uint64_t seed) {
  live_repo out{seed};
  out.put("app.test.note/a", make_record("one"));
  out.commit();
  return out;
}

class MuteHostsTest : public NetFixture {
protected:
  MuteHostsTest() {
    relay.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  }

  /// Accounts on hosts of their own: one listener has all addresses of this
  /// machine and reads what it gets until the other side ends.
  std::vector<atproto::did> mute_accounts() {
    std::vector<atproto::did> out;
    for (size_t i = 0; i < mute_hosts; ++i) {
      const auto repo = account(1'000 + i);
      relay.publish(repo, "http://127.0.1." + std::to_string(i + 1) + ':'
                            + std::to_string(mute.port()));
      out.push_back(repo.did());
    }
    return out;
  }

  std::vector<atproto::did> honest_accounts() {
    std::vector<atproto::did> out;
    for (size_t i = 0; i < honest_repos; ++i) {
      const auto repo = account(2'000 + i);
      relay.publish_and_serve(repo);
      out.push_back(repo.did());
    }
    return out;
  }

  hostile_stream stream;
  hostile_host relay; ///< Also the directory and the honest host.
  scripted_server mute{[](raw_peer& peer, size_t) {
                         std::string ignored;
                         while (peer.read_some(ignored, -1)
                                == raw_peer::outcome::data)
                           continue;
                       },
                       0, INADDR_ANY};
};

} // namespace

// actors.md, Who is fetched next: hosts that never answer get their turn, but
// not for fifteen seconds while others wait.
TEST_F(MuteHostsTest, HonestReposBehindACrowdThatNeverAnswersAreFetched) {
  hostile_node node{{"relay:" + relay.url()},
                    relay.url(),
                    {"--sync-parallelism",
                     std::to_string(wished("PARALLELISM", 8))}};
  node.add(mute_accounts());
  ASSERT_TRUE(node.await_metric("weir_backfill_queue_depth ", mute_hosts));
  const auto honest = honest_accounts();
  const auto start = std::chrono::steady_clock::now();
  node.add(honest);
  const std::chrono::seconds bound{wished("SYNC_SECONDS", 60) * slowness};
  EXPECT_TRUE(eventually(bound, [&] {
    return std::all_of(honest.begin(), honest.end(), [&](const auto& did) {
      return node.repo(did).status == "synced";
    });
  }));
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
    std::chrono::steady_clock::now() - start);
  std::cout << took.count() << " ms beside hosts that never answer\n";
  EXPECT_GE(mute.accepted(), 1u);
  EXPECT_GE(node.metric("weir_backfill_unanswered_total "), 1u);
}

} // namespace weir::tests
