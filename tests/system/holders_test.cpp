#include "atproto/frame.hpp"
#include "net/url.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/live_repo.hpp"
#include "tests/system/watched_node.hpp"

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <mutex>

// SYNC-18: which accounts have records of the signal collection, on a PDS that
// must be asked about each. Listings come a day apart.
namespace weir::tests {

namespace {

using namespace std::chrono_literals;

constexpr auto signal_collection = "app.test.note";

class HoldersTest : public WatchedNodeTest {
protected:
  HoldersTest() {
    config.mode = actors::tracking_mode::signal;
    config.signal_collections = {signal_collection};
    config.plc_url = directory.url();
    config.upstreams = {{gate.url(), false}};
    gate.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    gate.on("/xrpc/com.atproto.repo.describeRepo",
            [this](raw_peer& peer, const std::string& head) {
              const auto at = head.find("repo=") + 5;
              const auto did
                = net::percent_decode(head.substr(at, head.find(' ', at) - at))
                    .value();
              const std::lock_guard lock{guard};
              const auto answer = say(did);
              answered[did] += answer.find(" 429 ") == std::string::npos ? 1 : 0;
              peer.send(answer);
            });
  }

  /// The gate lists `count` more accounts, all of which have a record.
  void list(size_t count, bool active = true) {
    std::string lines;
    for (size_t i = 0; i < count; ++i) {
      auto& x = repos.emplace_back(1 + repos.size());
      x.put(std::string{signal_collection} + "/a", make_record("one"));
      x.commit();
      gate.serve(x);
      directory.publish(x, gate.url());
      lines += (lines.empty() ? R"({"did":")" : R"(,{"did":")") + x.did().str()
               + R"(","head":")" + x.data().to_text() + R"(","rev":")"
               + x.rev().str() + R"(","active":)"
               + (active ? "true}" : R"(false,"status":"deactivated"})");
    }
    gate.on("/xrpc/com.atproto.sync.listRepos",
            tests::say(http_answer(200, R"({"repos":[)" + lines + "]}")));
  }

  static std::string described(const std::string& did, bool holds = true) {
    return http_answer(200, R"({"did":")" + did + R"(","collections":[)"
                              + (holds ? R"("app.test.note")" : "") + "]}");
  }

  static std::string not_found() {
    return http_answer(404, R"({"error":"RepoNotFound"})");
  }

  /// Waits until `count` repos are synced.
  bool await_synced(size_t count) {
    return eventually(node_patience, [&] {
      return metric("weir_repos", "state=\"synced\"") == count;
    });
  }

  size_t index_of(const std::string& did) const {
    size_t out = 0;
    for (const auto& x : repos) {
      if (x.did().str() == did)
        break;
      ++out;
    }
    return out;
  }

  std::list<live_repo> repos;
  std::mutex guard;
  /// Number of answers about each account.
  std::map<std::string, size_t> answered;
  /// The gate's answer about an account.
  std::function<std::string(const std::string& did)> say
    = [](const std::string& did) {
        return described(did);
      };
  hostile_stream stream;
  hostile_host gate;
  hostile_host directory;
};

} // namespace

// Once, four missing accounts in a row hid all others for a day.
TEST_F(HoldersTest, AccountsThatAreNotThereHideNoOthers) {
  list(7);
  say = [this](const std::string& did) {
    return index_of(did) < 5 ? not_found() : described(did);
  };
  start();
  ASSERT_TRUE(await_synced(2)) << readiness();
  EXPECT_EQ(causes_of("/readyz"), "[]");
}

// Once, accounts with an answer were asked about again after a 429, so that a
// host with a low limit was never asked about the last ones of a page.
TEST_F(HoldersTest, AHostThatLetsFewRequestsThroughIsAskedOnceAboutEach) {
  list(8);
  size_t left = 3;
  say = [&](const std::string& did) {
    if (left-- > 0)
      return described(did);
    left = 3;
    return http_answer(429, "{}", "Retry-After: 1\r\n");
  };
  start();
  ASSERT_TRUE(await_synced(8)) << readiness();
  EXPECT_EQ(causes_of("/readyz"), "[]");
  const std::lock_guard lock{guard};
  EXPECT_EQ(answered.size(), 8u);
  for (const auto& [did, times] : answered)
    EXPECT_EQ(times, 1u) << did;
}

TEST_F(HoldersTest, AHostThatKnowsNoneOfItsAccountsIsNamed) {
  list(6);
  config.listing_interval = config.listing_pause = 1s;
  config.listing_requests_per_hour = 100'000;
  std::atomic<bool> is_right = false;
  say = [&](const std::string& did) {
    return is_right ? described(did) : not_found();
  };
  start();
  ASSERT_TRUE(await_cause("upstream", gate.url(),
                          "knows none of those that are listed", "degraded"));
  EXPECT_EQ(causes_of("/status"), causes_of("/readyz"));
  is_right = true;
  ASSERT_TRUE(await_synced(6));
  ASSERT_TRUE(await_ready());
}

// SYNC-18: accounts without a record are asked about again with each listing,
// so a first record without an event is found, though late
TEST_F(HoldersTest, AFirstRecordThatNoEventToldIsFoundByALaterListing) {
  list(2);
  config.listing_interval = config.listing_pause = 1s;
  config.listing_requests_per_hour = 100'000;
  std::atomic<bool> has_written = false;
  say = [&](const std::string& did) {
    return described(did, has_written || index_of(did) == 0);
  };
  start();
  ASSERT_TRUE(await_synced(1)) << readiness();
  EXPECT_EQ(metric("weir_repos_tracked"), 1u);
  has_written = true;
  EXPECT_TRUE(await_synced(2)) << readiness();
}

// Once, it was not asked about before the next listing.
TEST_F(HoldersTest, AnAccountThatIsActiveAgainIsAskedAboutAtOnce) {
  list(2, false);
  say = [this](const std::string& did) {
    return described(did, index_of(did) == 0);
  };
  start();
  ASSERT_TRUE(eventually(node_patience, [this] {
    return metric("weir_listing_finished_total") >= 2;
  }));
  {
    const std::lock_guard lock{guard};
    EXPECT_TRUE(answered.empty()) << "those who are away are not asked about";
  }
  int64_t seq = 0;
  for (const auto& x : repos)
    for (int i = 0; i < 2; ++i) {
      atproto::account_event event;
      event.seq = ++seq;
      event.repo = x.did();
      const auto made = frame_time_of_now();
      event.time = made;
      event.active = true;
      ASSERT_TRUE(stream.send(atproto::encode_frame(event)));
    }
  ASSERT_TRUE(await_synced(1)) << readiness();
  ASSERT_TRUE(eventually(node_patience, [this] {
    const std::lock_guard lock{guard};
    return answered.size() == 2;
  }));
  EXPECT_EQ(metric("weir_repos_tracked"), 1u) << "the other one has no records";
}

} // namespace weir::tests
