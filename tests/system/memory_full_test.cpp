#include "actors/backfill/limits.hpp"
#include "actors/repo/limits.hpp"
#include "apps/demo/evidence.hpp"
#include "atproto/car.hpp"
#include "base/byte_ledger.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <list>
#include <map>
#include <thread>

// testing.md, Memory: with every queue full.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

/// The smallest limit that is permitted.
constexpr size_t least_memory = 128 * megabyte;
constexpr size_t downloads = 4;
constexpr size_t frame_record_bytes = 16'000;
constexpr uint64_t unread = 700; ///< Repos of one record.
/// Commits kept of each download: below 1 MiB.
constexpr size_t kept_commits = 60;

/// The share of the node's memory plan for the stream, for the window of the
/// consumer, and for the CARs of all downloads, each.
constexpr size_t share = least_memory / 16;
/// Memory of one download: its part of the share, the window, and the index of
/// its blocks.
constexpr size_t fetch_bytes
  = share / downloads + limits::fetch_window_bytes + megabyte;

/// Sends a CAR that begins with more than its part of the memory for spools and
/// continues as slowly as permitted.
void trickle(raw_peer& peer, const std::string&) {
  const live_repo any;
  const std::array roots{atproto::cid::of_dag_cbor(any.commit_block())};
  atproto::car_writer car{roots};
  car.add(roots[0], any.commit_block());
  bool going
    = peer.send("HTTP/1.1 200 OK\r\nContent-Length: 900000000\r\n\r\n");
  for (size_t i = 0; going; ++i) {
    const auto record
      = make_record(std::string(60'000, 'x') + std::to_string(i));
    car.add(atproto::cid::of_dag_cbor(record), record);
    going = peer.send(car.take());
    std::string nothing;
    if (i * record.size() > share)
      going
        = going && peer.read_some(nothing, 1'000) == raw_peer::outcome::timeout;
  }
}

/// Each kind of a node's memory is at its limit at the same time.
class MemoryFullTest : public NetFixture {
protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "most of the memory would be the sanitizer's";
#endif
    hub.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    hub.on("/did:plc:", [](raw_peer& peer, const std::string&) {
      peer.wait_for_end(); // The directory never answers.
    });
    for (uint64_t i = 0; i < unread; ++i) {
      auto& x = repos.emplace_back(20'000 + i);
      put_record(x);
      x.commit();
      hub.publish_and_serve(x);
    }
    for (uint64_t i = 0; i < downloads; ++i) {
      const auto& x = slow.emplace_back(1'000 + i);
      hub.publish(x, hosts.emplace_back().url());
      hosts.back().on_repo(x.did(), trickle);
    }
    // Several partitions take frames faster than this test can send them, so
    // that the stream's share would never be full.
    node = std::make_unique<hostile_node>(
      std::vector{"relay:" + hub.url()}, hub.url(),
      std::vector<std::string>{"--partitions", "1",
                               "--memory-limit", std::to_string(least_memory),
                               "--sync-parallelism", std::to_string(downloads),
                               "--consumer-window-events", "100000",
                               "--consumer-retry", "1h"});
  }

  void put_record(live_repo& x) {
    x.put("app.test.note/a", make_record(std::string(frame_record_bytes, 'x')
                                         + std::to_string(++made)));
  }

  /// The next commit of an account.
  bytes next_commit(live_repo& x) {
    put_record(x);
    auto draft = x.draft();
    draft.seq = ++seq;
    return draft.encode(draft.sign(x.key()));
  }

  /// The memory in use by kind, at one moment.
  std::map<std::string, uint64_t> held() {
    const auto page = node->metrics();
    std::map<std::string, uint64_t> out;
    for (const auto name : byte_ledger::names)
      out[std::string{name}] = apps::metric_total(
        page, "weir_memory_held_bytes", "by=\"" + std::string{name} + '"');
    return out;
  }

  void track(const std::list<live_repo>& of) {
    std::vector<atproto::did> dids;
    for (const auto& x : of)
      dids.push_back(x.did());
    node->add(dids);
  }

  int64_t seq = 0;
  size_t made = 0;
  std::list<live_repo> repos;
  std::list<live_repo> slow;
  hostile_stream stream;
  hostile_host hub; ///< The relay, directory, and host of `repos`.
  std::list<hostile_host> hosts;
  std::unique_ptr<hostile_node> node;
};

} // namespace

TEST_F(MemoryFullTest, EachQueueAtItsShareAtOnceStaysUnderTheLimit) {
  const channel_client dead{network, node->data_url(), [](const auto&) {
                              return std::vector<uint64_t>{};
                            }};
  track(repos);
  ASSERT_TRUE(node->await_metric("weir_repos_synced", unread));
  track(slow);
  ASSERT_TRUE(eventually(node_patience, [&] {
    return held()["fetches"] > downloads * fetch_bytes / 2;
  }));
  for (auto& x : slow)
    for (size_t i = 0; i < kept_commits; ++i)
      ASSERT_TRUE(stream.send(next_commit(x)));
  std::jthread flood{[this](const std::stop_token& stop) {
    for (uint64_t i = 0; !stop.stop_requested(); ++i) {
      live_repo x{1'000'000 + i};
      if (!stream.send(next_commit(x)))
        return;
    }
  }};
  const std::map<std::string, size_t> bounds{
    {"delivery", share},
    {"streams", share},
    {"fetches", downloads * fetch_bytes},
    {"repos", downloads * limits::repo_waiting_bytes_max}};
  std::map<std::string, uint64_t> now;
  const bool full = eventually(node_patience, [&] {
    now = held();
    return std::all_of(bounds.begin(), bounds.end(), [&](const auto& x) {
      return now[x.first] > x.second * 8 / 10;
    });
  });
  EXPECT_TRUE(full) << testing::PrintToString(now);
  EXPECT_LE(now["fetches"], bounds.at("fetches"));
  flood.request_stop();
  if (!full)
    // Otherwise the host would wait for ever to send what the node does not
    // read.
    node = nullptr;
  flood.join();
  ASSERT_TRUE(full);
  auto& live = repos.front();
  ASSERT_TRUE(stream.send(next_commit(live)));
  EXPECT_TRUE(eventually(node_patience, [&] {
    return node->repo(live.did()).rev == live.rev().str();
  }));
  EXPECT_TRUE(node->is_healthy());
  std::cout << "each at its share: peak " << node->peak_bytes() / megabyte
            << " MiB of " << least_memory / megabyte << std::endl;
  EXPECT_LT(node->peak_bytes(), least_memory);
}

} // namespace weir::tests
