#include "actors/support/limits_health.hpp"
#include "base/clock.hpp"
#include "tests/system/hostile_downloads.hpp"

#include <list>

// architecture.md, A wrong clock: hosts that give wrong times.
namespace weir::tests {

namespace {

using namespace std::chrono_literals;

/// Repos of two hosts whose commits come through one relay.
class HostileClockTest : public ::testing::Test {
protected:
  HostileClockTest() {
    relay.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  }

  /// Makes repos that `host` serves.
  void make(std::list<live_repo>& to, hostile_host& host, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      auto& x = to.emplace_back(++made_);
      x.put("app.test.note/a", make_record("one"));
      x.commit();
      relay.publish(x, host.url());
      host.serve(x);
    }
  }

  /// @param ahead How far its rev is in the future.
  std::string send(live_repo& x, std::chrono::microseconds ahead) {
    x.put("app.test.note/next", make_record("more"));
    auto draft = x.draft();
    draft.object.rev
      = atproto::tid::from_time(system_clock().wall_now() + ahead, 1);
    draft.seq = ++seq_;
    EXPECT_TRUE(stream.send(draft.encode(draft.sign(x.key()))));
    return draft.object.rev.str();
  }

  hostile_stream stream;
  hostile_host relay; ///< Also the directory and the honest host.
  hostile_host liar;

private:
  uint64_t made_ = 0;
  int64_t seq_ = 0;
};

} // namespace

// docs/hostile-inputs.md 2.1.12; limits::clock_hosts_min
TEST_F(HostileClockTest, AHostWithThreeOfFourAccountsHoldsNobodyElse) {
  std::list<live_repo> honest;
  std::list<live_repo> lying;
  make(honest, relay, limits::clock_signers_min);
  make(lying, liar, 3 * limits::clock_signers_min);
  hostile_node node{{"relay:" + relay.url()}, relay.url()};
  for (auto* repos : {&honest, &lying})
    for (const auto& x : *repos)
      node.add({x.did()});
  for (auto* repos : {&honest, &lying})
    for (const auto& x : *repos)
      ASSERT_EQ(node.await(x.did(), "synced").status, "synced");
  for (auto& x : lying)
    send(x, 24h);
  EXPECT_TRUE(node.await_metric(
    "weir_repo_events_total{result=\"future_rev\"}", lying.size()));
  for (auto& x : honest) {
    const auto rev = send(x, 0s);
    EXPECT_TRUE(eventually(node_patience, [&] {
      return node.repo(x.did()).rev == rev;
    }));
  }
  EXPECT_EQ(node.metric("weir_intake_level"), 0u);
  EXPECT_EQ(node.metric("weir_health_causes{cause=\"clock\"}"), 0u);
  EXPECT_EQ(node.log().find("\"cause\":\"clock\""), std::string::npos)
    << "not even for a moment";
}

} // namespace weir::tests
