#include "tests/system/hostile_host.hpp"
#include "tests/system/watched_node.hpp"

#include <chrono>

// architecture.md, Health: a PDS is configured by an origin that the documents
// of its accounts do not name, for example by an address.
namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using actors::tracking_mode;

class WrongOriginTest : public WatchedNodeTest {
protected:
  WrongOriginTest() {
    config.plc_url = directory.url();
    config.upstreams = {{gate.url(), false}};
    gate.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  }

  /// Makes the gate list accounts whose documents name these hosts, one for
  /// each.
  void list(const std::vector<std::string>& hosts) {
    std::string lines;
    for (const auto& host : hosts) {
      auto& x = repos.emplace_back(1 + repos.size());
      x.put("app.test.note/a", make_record("one"));
      x.commit();
      directory.publish(x, host);
      gate.serve(x);
      gate.on("/xrpc/com.atproto.repo.describeRepo?repo=" + x.did().str(),
              say(http_answer(200, R"({"did":")" + x.did().str()
                                     + R"(","collections":[]})")));
      lines += (lines.empty() ? R"({"did":")" : R"(,{"did":")") + x.did().str()
               + R"(","head":")" + x.data().to_text() + R"(","rev":")"
               + x.rev().str() + R"(","active":true})";
    }
    gate.on("/xrpc/com.atproto.sync.listRepos",
            say(http_answer(200, R"({"repos":[)" + lines + "]}")));
  }

  std::list<live_repo> repos;
  hostile_stream stream;
  hostile_host gate;
  hostile_host directory;
};

constexpr auto elsewhere = "https://pds.elsewhere.test";

} // namespace

// One account is enough as soon as the first listing came, in every mode.
TEST_F(WrongOriginTest, AHostThatNoDocumentNamesIsNamedInEveryMode) {
  list({elsewhere});
  const auto sentence = "its accounts' documents do not name " + gate.url()
                        + ": that of " + repos.front().did().str() + " names "
                        + elsewhere;
  for (const auto mode : {tracking_mode::full_network, tracking_mode::signal,
                          tracking_mode::manual}) {
    config.mode = mode;
    config.signal_collections.clear();
    if (mode == tracking_mode::signal)
      config.signal_collections.push_back("app.test.none");
    config.data_dir += '1';
    start();
    const auto begun = std::chrono::steady_clock::now();
    ASSERT_TRUE(await_cause("upstream", gate.url(), sentence));
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
    EXPECT_NE(readiness().find("pds:" + std::string{elsewhere}
                               + " instead of pds:" + gate.url()),
              std::string::npos)
      << readiness();
    EXPECT_EQ(causes_of("/status"), causes_of("/readyz"));
    stop();
  }
}

TEST_F(WrongOriginTest, ARelayThatIsCalledAPdsIsToldSo) {
  list({elsewhere, "https://pds.other.test"});
  config.mode = tracking_mode::manual;
  start();
  ASSERT_TRUE(await_cause("upstream", gate.url(), "do not name"));
  EXPECT_NE(readiness().find("as relay:" + gate.url() + " instead of pds:"
                             + gate.url()),
            std::string::npos)
    << readiness();
}

// It recovers when the documents name it, without a restart.
TEST_F(WrongOriginTest, AHostThatDocumentsNameAgainIsWell) {
  list({elsewhere, elsewhere});
  config.listing_interval = config.listing_pause = 1s;
  config.listing_requests_per_hour = 100'000;
  start();
  ASSERT_TRUE(await_cause("upstream", gate.url(), "do not name"));
  directory.publish(repos.front(), gate.url());
  ASSERT_TRUE(await_ready());
  EXPECT_EQ(warnings("unhealthy", "upstream"), 1u);
  EXPECT_EQ(warnings("healthy_again", "upstream"), 1u);
}

TEST_F(WrongOriginTest, AHostThatMostHaveLeftIsNotNamed) {
  list({elsewhere, elsewhere, elsewhere, gate.url()});
  config.mode = tracking_mode::manual;
  start();
  ASSERT_TRUE(eventually(node_patience, [this] {
    return directory.asked("/" + repos.back().did().str()) > 0;
  }));
  EXPECT_FALSE(eventually(2s, [this] {
    return causes_of("/readyz") != "[]";
  })) << readiness();
}

} // namespace weir::tests
