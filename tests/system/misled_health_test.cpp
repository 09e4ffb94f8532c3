#include "actors/node/limits.hpp"
#include "actors/support/limits_health.hpp"
#include "net/url.hpp"
#include "simnet/network.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/watched_node.hpp"

#include <functional>
#include <mutex>
#include <vector>

// architecture.md, Health: servers whose answers are useless are reported. A
// bad host, and accounts that do not exist, make no node unready.
namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using simnet::account_view;
using simnet::fault_kind;

/// A directory that knows the accounts of the network. The test decides its
/// answers.
class scripted_directory {
public:
  using answer = std::function<std::string(const account_view&)>;

  explicit scripted_directory(followed_network& net) : net_(net) {
    tell_truth();
    host_.on("/did:plc:", [this](raw_peer& peer, const std::string& head) {
      peer.send(answer_to(head.substr(5, head.find(' ', 5) - 5)));
    });
  }

  std::string url() const { return host_.url(); }

  void tell(answer x) {
    const std::lock_guard lock{guard_};
    tells_ = std::move(x);
  }

  void tell_truth() {
    tell([this](const auto& x) {
      return document(x, x.signing_key, net_.urls().hosts[x.host]);
    });
  }

  static std::string document(const account_view& x, std::string_view key,
                              const std::string& pds) {
    return http_answer(200, make_document(x.id.str(), key, pds));
  }

  size_t asked() const { return host_.asked("/did:plc:"); }

private:
  /// For unknown DIDs it has documents without a key.
  std::string answer_to(const std::string& did) {
    const auto index = net_.life().truth().find(did);
    if (!index)
      return http_answer(200, make_document(did, "", net_.urls().hosts[0]));
    const std::lock_guard lock{guard_};
    return tells_(net_.life().truth().view(*index));
  }

  followed_network& net_;
  std::mutex guard_;
  answer tells_;
  hostile_host host_; ///< Last, because its threads use the members above.
};

class MisledHealthTest : public WatchedNodeTest {
protected:
  MisledHealthTest() { config.plc_url = directory.url(); }

  void happen(fault_kind kind, size_t account) {
    simnet::fault x;
    x.kind = kind;
    x.did = net.life().truth().view(account).id.str();
    ASSERT_TRUE(net.life().faults().inject(x));
  }

  /// Gives `count` accounts a new key and lets them use it.
  void rotate(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      happen(fault_kind::rotate_key, i);
      net.life().traffic().post(i);
    }
  }

  void start_equal() {
    start();
    ASSERT_TRUE(await_all_equal());
    ASSERT_TRUE(await_ready());
  }

  /// Expects that the directory is reported with this error until its answers
  /// are right again.
  void expect_named(const std::string& error) {
    ASSERT_TRUE(await_cause("directory", directory.url(), error));
    directory.tell_truth();
    ASSERT_TRUE(await_all_equal());
    time.pass(limits::health_calm);
    ASSERT_TRUE(await_ready());
    EXPECT_EQ(warnings("unhealthy", "directory"), 1u);
    EXPECT_EQ(warnings("healthy_again", "directory"), 1u);
  }

  /// Expects a ready node without a cause for several checks of health.
  void expect_well() {
    EXPECT_FALSE(eventually(4 * std::chrono::ceil<std::chrono::seconds>(
                              limits::health_check_interval),
                            [this] { return causes_of("/readyz") != "[]"; }))
      << readiness();
  }

  scripted_directory directory{net};
};

constexpr auto without_host = [](const auto& x) {
  return scripted_directory::document(x, x.signing_key, "");
};

} // namespace

TEST_F(MisledHealthTest, ADirectoryThatServesPagesIsAway) {
  directory.tell([](const auto&) { return http_answer(200, "<html>"); });
  start();
  expect_named("unreachable: DID document is not JSON");
}

TEST_F(MisledHealthTest, ADirectoryWithoutKeysIsNamed) {
  directory.tell([this](const auto& x) {
    return scripted_directory::document(x, "", net.urls().hosts[x.host]);
  });
  start();
  expect_named("the document has no usable signing key");
}

// The directory still has some documents, and all its answers were right a
// moment ago
TEST_F(MisledHealthTest, ADirectoryThatLostMostDocumentsIsNamed) {
  start_equal();
  directory.tell([this](const auto& x) {
    return *net.life().truth().find(x.id.str()) < 2 * accounts / 3
             ? http_answer(404, "{}")
             : scripted_directory::document(x, x.signing_key,
                                            net.urls().hosts[x.host]);
  });
  rotate(accounts);
  expect_named("not_found: the directory answers HTTP 404");
}

// Nothing is looked up in this life: the store tells whom it knew
TEST_F(MisledHealthTest, ADirectoryWithoutHostsIsNamedAfterAStart) {
  start_equal();
  stop();
  directory.tell(without_host);
  start();
  expect_named("the document names no PDS");
}

TEST_F(MisledHealthTest, ADocumentThatNamesNoHostIsAReasonInWords) {
  config.upstreams.clear();
  for (const auto& x : net.urls().hosts)
    config.upstreams.push_back({x, false});
  start_equal();
  directory.tell(without_host);
  rotate(accounts);
  EXPECT_TRUE(eventually(node_patience, [this] {
    return readiness().find("most of its commits are refused: wrong_host: the "
                            "account's document names no host")
           != std::string::npos;
  })) << readiness();
}

// Existing accounts are synced nevertheless
TEST_F(MisledHealthTest, InventedAccountsMakeNoNodeUnready) {
  config.mode = actors::tracking_mode::manual;
  start();
  add(accounts);
  ASSERT_TRUE(await_all_equal());
  stop();
  const auto before = directory.asked();
  start();
  const auto asked = before + limits::health_known_max;
  ASSERT_TRUE(eventually(node_patience, [&] {
    return directory.asked() == asked;
  })) << "those that it is measured by";
  constexpr size_t invented = 4 * limits::health_failures_min;
  std::vector<atproto::did> dids;
  for (uint64_t i = 0; i < invented; ++i)
    dids.push_back(live_repo{1'000 + i}.did());
  add(dids);
  ASSERT_TRUE(eventually(node_patience, [&] {
    return directory.asked() > asked + invented;
  })) << "each of them, and one that is known";
  expect_well();
  EXPECT_EQ(warnings("unhealthy", "directory"), 0u);
}

// protocol-coverage.md 5: no answer of the host is a repo
TEST_F(MisledHealthTest, HostsThatServePagesAreNamed) {
  for (const auto status : {200, 404}) {
    const std::string fetch = "/xrpc/com.atproto.sync.getRepo";
    hostile_host host;
    host.on(fetch, say(http_answer(status, "<html>")));
    directory.tell([url = host.url()](const auto& x) {
      return scripted_directory::document(x, x.signing_key, url);
    });
    config.data_dir += '1';
    start();
    ASSERT_TRUE(await_cause("fetch", host.url(),
                            status == 200 ? "not a CAR" : "HTTP 404"));
    host.on(fetch, [this](raw_peer& peer, const std::string& head) {
      const auto target = head.substr(4, head.find(' ', 4) - 4);
      const auto did = net::percent_decode(target.substr(target.find('=') + 1));
      auto& truth = net.life().truth();
      const auto owner = truth.view(truth.find(did.value()).value()).host;
      peer.send(http_answer(
        302, {}, "Location: " + net.urls().hosts[owner] + target + "\r\n"));
    });
    ASSERT_TRUE(await_all_equal());
    ASSERT_TRUE(await_ready());
    stop();
  }
  EXPECT_EQ(warnings("unhealthy", "fetch"), 2u);
  EXPECT_EQ(warnings("healthy_again", "fetch"), 2u);
}

// limits::health_memory: the other hosts answered well when they were last
// asked
TEST_F(MisledHealthTest, OneBadHostStopsNoNodeWhoseOtherHostsAreQuiet) {
  config.retry_backoff_min = config.retry_backoff_max = 1h;
  start_equal();
  time.pass(limits::health_memory + 1s);
  simnet::request_faults::order order;
  order.what = simnet::fault_kind::failing_repo;
  order.host = 0;
  order.count = 1'000'000;
  net.life().requests().add(order);
  size_t broken = 0;
  for (size_t i = 0; i < accounts; ++i)
    if (net.life().truth().view(i).host == 0) {
      happen(fault_kind::broken_chain, i);
      net.life().traffic().post(i);
      ++broken;
    }
  ASSERT_GE(broken, limits::health_failures_min);
  ASSERT_TRUE(eventually(node_patience, [this] {
    return metric("weir_backfill_finished_total", "result=\"failed\"")
           >= limits::health_failures_min;
  })) << errors();
  const auto where = net.urls().hosts[0];
  EXPECT_TRUE(await_cause("fetch", where, "HTTP 500", "degraded"));
}

} // namespace weir::tests
