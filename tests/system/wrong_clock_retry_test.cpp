#include "actors/node/node.hpp"
#include "tests/support/node_partitions.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/patience.hpp"

#include <gtest/gtest.h>

#include <atomic>

// architecture.md, A wrong clock: a wall clock that was wrong for a while.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

/// The machine's clocks, with a wall clock that can be years ahead.
class wrong_clock final : public clock {
public:
  steady_time steady_now() const noexcept override {
    return system_clock().steady_now();
  }

  wall_time wall_now() const noexcept override {
    return system_clock().wall_now() + std::chrono::microseconds{ahead};
  }

  std::atomic<int64_t> ahead{0};
};

class WrongClockRetryTest : public NetFixture {
protected:
  WrongClockRetryTest() {
    relay.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    repo.put("app.test.note/a", make_record("one"));
    repo.commit();
    relay.publish(repo, relay.url());
    relay.on_repo(repo.did(), say(http_answer(500, "{}")));
    config.data_dir = dir.at("data");
    config.partitions = node_partitions();
    config.bind = config.operations_bind = "127.0.0.1:0";
    config.upstreams = {{relay.url(), true}};
    config.plc_url = config.handle_resolver_url = relay.url();
    config.allow_private_addresses = true;
    config.retry_backoff_min = 1s;
  }

  std::unique_ptr<actors::node> start() {
    actors::node_seams seams;
    seams.time = &time;
    auto made = actors::node::start(
      config,
      [](const error& why) {
        ADD_FAILURE() << to_string(why);
      },
      std::move(seams));
    EXPECT_TRUE(made) << to_string(made.error());
    return made ? std::move(*made) : nullptr;
  }

  void add(const actors::node& node) {
    ASSERT_TRUE(web->post(node.data_url() + "/repos/add",
                          "{\"dids\":[\"" + repo.did().str() + "\"]}"));
  }

  /// Adds the repo and lets its fetch fail, with a clock ten years ahead.
  void fail_ahead(const actors::node& node) {
    time.ahead = std::chrono::microseconds{10 * 365 * 24h}.count();
    add(node);
    ASSERT_TRUE(eventually(node_patience, [&] {
      const auto answer = web->get(node.data_url() + "/repos/errors");
      return answer
             && as_text(answer->body).find(repo.did().str())
                  != std::string::npos;
    }));
    time.ahead = 0;
    relay.serve(repo);
  }

  void expect_synced(const actors::node& node) {
    const node_addresses at{node.data_url(), node.operations_url()};
    EXPECT_TRUE(eventually(node_patience, [&] {
      return status_of(*web, at).synced == 1;
    }));
  }

  const temp_dir dir;
  wrong_clock time;
  hostile_stream stream;
  std::atomic<bool> listed{true};
  hostile_host relay;
  live_repo repo{1};
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
  actors::node_config config;
};

} // namespace

// Our clock is years behind the host's, which asks for a wait of one second.
TEST_F(WrongClockRetryTest, AHostThatAsksForAMomentWaitsNoLonger) {
  relay.on_repo(repo.did(),
                say(http_answer(429, R"({"error":"RateLimitExceeded"})",
                                "Date: Wed, 18 May 2033 03:33:20 GMT\r\n"
                                "RateLimit-Reset: 2000000001\r\n")));
  const auto node = start();
  ASSERT_TRUE(node);
  add(*node);
  ASSERT_TRUE(eventually(node_patience, [&] {
    return relay.asked("/xrpc/com.atproto.sync.getRepo?") > 0;
  }));
  relay.serve(repo);
  expect_synced(*node);
}

// protocol-coverage.md 4.5: the repo was fetched while our clock was a year
// ahead
TEST_F(WrongClockRetryTest, ARepoThatItsListingLeavesOutIsAskedAbout) {
  config.upstreams = {{relay.url(), false}};
  config.gone_grace = config.listing_grace = 1s;
  config.listing_requests_per_hour = 3'600;
  const auto line = R"({"repos":[{"did":")" + repo.did().str() + R"(","rev":")"
                    + repo.rev().str() + R"(","active":true}]})";
  relay.on("/xrpc/com.atproto.sync.listRepos",
           [this, line](raw_peer& peer, const std::string&) {
             peer.send(http_answer(200, listed ? line : R"({"repos":[]})"));
           });
  relay.on("/xrpc/com.atproto.sync.getRepoStatus",
           say(http_answer(400, R"({"error":"RepoNotFound"})")));
  relay.serve(repo);
  time.ahead = std::chrono::microseconds{365 * 24h}.count();
  const auto node = start();
  ASSERT_TRUE(node);
  add(*node);
  expect_synced(*node);
  time.ahead = 0;
  listed = false;
  EXPECT_TRUE(eventually(node_patience, [&] {
    const auto answer
      = web->get(node->data_url() + "/repos/" + repo.did().str());
    return answer
           && as_text(answer->body).find("\"record_count\":0")
                != std::string::npos;
  }));
}

TEST_F(WrongClockRetryTest, ARepoThatFailedWhileItWasAheadIsTriedAgain) {
  const auto node = start();
  ASSERT_TRUE(node);
  fail_ahead(*node);
  expect_synced(*node);
}

TEST_F(WrongClockRetryTest, SoItIsAfterARestart) {
  auto node = start();
  ASSERT_TRUE(node);
  fail_ahead(*node);
  node = nullptr;
  node = start();
  ASSERT_TRUE(node);
  expect_synced(*node);
}

} // namespace weir::tests
