#include "tests/support/temp_dir.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/patience.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <mutex>

// A directory that is away while keys rotate and accounts move (protocol.md
// 2.5.6): when it is back, each repo equals its source, without the account's
// next commit, and without a listing.

namespace weir::tests {

namespace {

using simnet::fault_kind;
using namespace std::chrono_literals;

constexpr auto buffered = R"(weir_repo_events_total{result="buffered"})";
constexpr auto bad_signature
  = R"(weir_repo_events_total{result="bad_signature"})";
constexpr auto listed = "\nweir_listing_finished_total ";
constexpr auto differs
  = R"(weir_repo_events_total{result="listing_mismatch"} )";
const std::string connected = R"(weir_upstream_connected{upstream=")";
constexpr auto inactive
  = R"(weir_repo_events_total{result="inactive_account"})";
constexpr auto sync_refused
  = R"(weir_repo_events_total{result="sync_refused"})";
constexpr size_t accounts = 6;

class DirectoryOutageTest : public testing::Test {
protected:
  ~DirectoryOutageTest() override { consumer.reset(); }

  /// What was listed once is not listed again for an hour, neither after a
  /// start nor after a connection that broke.
  /// @param direct Follows the streams of the hosts, not the relay's.
  void start(bool direct) {
    auto args = net.arguments(data, {"--listing-interval", "24h",
                                     "--listing-requests-per-hour", "1",
                                     "--listing-grace", "1h"});
    const auto relay
      = std::find(args.begin(), args.end(), "relay:" + net.urls().relay);
    if (direct) {
      std::vector<std::string> more;
      for (const auto& host : net.urls().hosts)
        more.insert(more.end(), {"--upstream", "pds:" + host});
      const auto flag = args.erase(relay - 1, relay + 1);
      args.insert(flag, more.begin(), more.end());
    }
    node = std::make_unique<program>(std::move(args));
    at = parse_ready(node->read_line(node_patience).value_or(""));
    ASSERT_NE(at.data, "") << tail_of(node->errors());
    consumer = std::make_unique<channel_client>(
      web->transport(), at.data, [this](const auto& texts) {
        const std::lock_guard lock{guard};
        std::vector<uint64_t> acks;
        for (const auto text : texts)
          acks.push_back(copy.take(text, {}).value().id);
        return acks;
      });
  }

  /// All is there, each stream is live, and no listing comes any more.
  void start_synced(bool direct) {
    start(direct);
    const auto upstreams
      = direct ? net.urls().hosts : std::vector{net.urls().relay};
    EXPECT_TRUE(eventually(node_patience, [&] {
      return metric(listed) >= upstreams.size()
             && std::ranges::all_of(upstreams, [this](const auto& url) {
                  return metric(connected + url + "\"} ") == 1;
                });
    }));
    expect_equal();
    listings = metric(listed);
  }

  /// Else a listing may have been what mended it.
  void expect_nothing_listed() {
    EXPECT_EQ(metric(listed), listings);
    EXPECT_EQ(metric(differs), 0u);
  }

  void expect_equal() {
    const auto equal = [this] {
      const std::lock_guard lock{guard};
      return net.difference(copy).empty();
    };
    EXPECT_TRUE(eventually(node_patience,
                           [&] {
                             const auto now = status_of(*web, at);
                             return now.synced == now.repos
                                    && now.repos == accounts && equal();
                           }))
      << differences() << tail_of(node->errors());
  }

  std::string differences() {
    const std::lock_guard lock{guard};
    return net.difference(copy);
  }

  void inject(fault_kind kind, size_t account = accounts) {
    simnet::fault x;
    x.kind = kind;
    x.time = 5s; // Of an answer that is slow: longer than a frame may wait.
    x.count = account < accounts ? 1 : 0;
    if (account < accounts)
      x.did = net.life().truth().view(account).id.str();
    ASSERT_TRUE(net.life().faults().inject(x));
  }

  uint64_t metric(std::string_view line) {
    const auto answer = web->get(at.operations + "/metrics");
    const auto text = answer ? std::string{as_text(answer->body)} : "";
    const auto place = text.find(line);
    return place == std::string::npos
             ? 0
             : std::stoull(text.substr(place + line.size()));
  }

  void post(size_t account, size_t count = 3) {
    for (size_t i = 0; i < count; ++i)
      net.life().traffic().post(account);
  }

  /// Waits until the node has taken three commits and the #sync of each of
  /// three accounts. They are kept for a newer document, except:
  /// - the #sync of a migration by way of the relay, which no key proves;
  /// - what a new host says of an account before its former host's last word is
  ///   in doubt: streams have no order, so that word may come before the new
  ///   host's #identity. It is fetched when the document names the new host.
  void await_taken(uint64_t before = 0) {
    constexpr uint64_t frames = 3 * (3 + 1);
    EXPECT_TRUE(eventually(node_patience, [&] {
      return taken() == before + frames;
    })) << taken() - before;
  }

  uint64_t taken() {
    return metric(buffered) + metric(inactive) + metric(sync_refused);
  }

  void end_node(int signal) {
    node->send(signal);
    node->wait(node_patience);
    consumer.reset();
  }

  void end_in_the_middle(int signal, bool direct) {
    start_synced(direct);
    inject(fault_kind::directory_down);
    for (size_t i = 0; i < 3; ++i) {
      inject(i == 1 ? fault_kind::migrate : fault_kind::rotate_key, i);
      post(i);
    }
    await_taken();
    end_node(signal);
    start(direct);
    listings = 0;
    inject(fault_kind::directory_up);
    expect_equal();
    expect_nothing_listed();
    end_node(SIGKILL);
  }

  followed_network net{41, accounts, 60};
  const temp_dir dir;
  const std::string data = dir.at("data");
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
  std::unique_ptr<program> node;
  node_addresses at;
  std::mutex guard;
  apps::event_copy copy;
  std::unique_ptr<channel_client> consumer;
  uint64_t listings = 0; ///< That were over before the directory was away.
};

} // namespace

// protocol.md 2.5.6, 7.6; architecture.md 9
TEST_F(DirectoryOutageTest, AKeyRotationDuringItLosesNothing) {
  for (const auto direct : {false, true}) {
    start_synced(direct);
    const auto before = taken();
    inject(fault_kind::directory_down);
    for (size_t i = 0; i < 3; ++i) {
      inject(fault_kind::rotate_key, i);
      post(i);
    }
    await_taken(before);
    inject(fault_kind::directory_up);
    expect_equal();
    expect_nothing_listed();
    EXPECT_EQ(metric(bad_signature), 0u);
    node->send(SIGTERM);
    EXPECT_EQ(node->wait(node_patience), 0);
    consumer.reset();
  }
}

// protocol.md 2.5.6; limits::repo_wait_max: no answer in time is no answer
TEST_F(DirectoryOutageTest, OneThatIsSlowLosesNothing) {
  start_synced(false);
  inject(fault_kind::directory_slow);
  for (size_t i = 0; i < 3; ++i) {
    inject(fault_kind::rotate_key, i);
    post(i);
  }
  await_taken();
  expect_equal();
  expect_nothing_listed();
  EXPECT_EQ(metric(bad_signature), 0u);
}

// protocol.md 2.1.2, 4.1, 4.6: the word of the former host, too, is judged by
// a document that is newer
TEST_F(DirectoryOutageTest, AMigrationBehindTwoHostsLosesNothing) {
  start_synced(true);
  inject(fault_kind::directory_down);
  for (size_t i = 0; i < 3; ++i) {
    inject(fault_kind::migrate, i);
    post(i);
  }
  await_taken();
  inject(fault_kind::directory_up);
  expect_equal();
  expect_nothing_listed();
}

// Invariant I4: what was kept is gone, the mark on the repo is not
TEST_F(DirectoryOutageTest, AKillInTheMiddleOfItLosesNothing) {
  for (const auto direct : {false, true})
    end_in_the_middle(SIGKILL, direct);
}

// protocol.md 2.5.6: the same when the frames do not come again
TEST_F(DirectoryOutageTest, AnEndInTheMiddleOfItLosesNothing) {
  for (const auto direct : {false, true})
    end_in_the_middle(SIGTERM, direct);
}

} // namespace weir::tests
