#include "simnet/network.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/watched_node.hpp"

// architecture.md, Health; reliability.md P16
namespace weir::tests {

namespace {

class HealthToldTest : public WatchedNodeTest {
protected:
  void happen(simnet::fault_kind kind) {
    simnet::fault x;
    x.kind = kind;
    x.count = 0; // Until it is ended.
    ASSERT_TRUE(net.life().faults().inject(x));
  }
};

} // namespace

TEST_F(HealthToldTest, ADirectoryThatIsAwayIsNamedOnceAndItsReturnAsWell) {
  happen(simnet::fault_kind::directory_down);
  start();
  ASSERT_TRUE(await_cause("directory", net.urls().plc, "HTTP 503"));
  EXPECT_EQ(metric("weir_health_causes", "cause=\"directory\""), 1u);
  EXPECT_EQ(causes_of("/status"), causes_of("/readyz"));
  happen(simnet::fault_kind::directory_up);
  ASSERT_TRUE(await_all_equal());
  ASSERT_TRUE(await_ready());
  EXPECT_EQ(metric("weir_health_causes"), 0u);
  EXPECT_EQ(causes_of("/status"), "[]");
  EXPECT_EQ(warnings("unhealthy", "directory"), 1u);
  EXPECT_EQ(warnings("healthy_again", "directory"), 1u);
}

// What answers there may be anything: it knows none of our DIDs
TEST_F(HealthToldTest, AServiceThatIsNoDirectoryIsNamed) {
  config.plc_url = net.urls().relay;
  start();
  ASSERT_TRUE(await_cause("directory", net.urls().relay, ""));
  EXPECT_EQ(warnings("unhealthy", "directory"), 1u);
}

TEST_F(HealthToldTest, AnUpstreamThatRefusesIsNamedUntilItDoesNot) {
  hostile_stream stream;
  hostile_host gate;
  const std::string path = "/xrpc/com.atproto.sync.subscribeRepos";
  gate.on(path, say(http_answer(403, "not you")));
  config.upstreams.push_back({gate.url(), true});
  start();
  ASSERT_TRUE(await_cause("upstream", gate.url(), "403"));
  gate.on(path, stream.script());
  ASSERT_TRUE(await_ready());
  EXPECT_EQ(warnings("unhealthy", "upstream"), 1u);
  EXPECT_EQ(warnings("healthy_again", "upstream"), 1u);
}

TEST_F(HealthToldTest, HostsThatServeNothingAreNamed) {
  simnet::request_faults::order order;
  order.what = simnet::request_fault::server_error;
  order.count = 1'000'000;
  net.life().requests().add(order);
  start();
  ASSERT_TRUE(eventually(node_patience, [this] {
    return readiness().find(R"("cause":"fetch")") != std::string::npos;
  })) << readiness();
  net.life().requests().clear(order.what, order.what);
  ASSERT_TRUE(await_all_equal());
  ASSERT_TRUE(await_ready());
  EXPECT_EQ(warnings("unhealthy", "fetch"), 1u);
  EXPECT_EQ(warnings("healthy_again", "fetch"), 1u);
}

} // namespace weir::tests
