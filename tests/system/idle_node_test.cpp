#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <thread>

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

/// A stream without events.
void stay_silent(raw_peer& peer, const std::string& head) {
  ws_peer::accept(peer, head);
  std::string ignored;
  while (peer.read_some(ignored, -1) == raw_peer::outcome::data)
    continue;
}

} // namespace

// A node waits for events and does not poll.
TEST(IdleNodeTest, ANodeThatHasNothingToDoTakesNextToNoTime) {
  std::list<hostile_host> hosts(20);
  std::vector<std::string> upstreams;
  for (auto& x : hosts) {
    x.on("/xrpc/com.atproto.sync.subscribeRepos", stay_silent);
    upstreams.push_back("pds:" + x.url());
  }
  auto& directory = hosts.front();
  live_repo repo{1};
  repo.put("app.test.note/a", make_record("one"));
  repo.commit();
  directory.publish_and_serve(repo);
  hostile_node node{upstreams, directory.url()};
  node.add({repo.did()});
  node.await(repo.did(), "synced");
  ASSERT_TRUE(node.await_metric("weir_upstream_connected", hosts.size()));
  // The CPU time is what is tested. The start ends within the first second.
  std::this_thread::sleep_for(1s);
  const auto before = node.cpu_time();
  ASSERT_GT(before, 0ns);
  std::this_thread::sleep_for(3s);
  EXPECT_LT(node.cpu_time() - before, 3 * 50ms * slowness);
  EXPECT_TRUE(node.is_healthy());
}

} // namespace weir::tests
