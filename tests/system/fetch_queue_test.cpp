#include "actors/node/memory_plan.hpp"
#include "actors/node/node_config.hpp"
#include "apps/weir/demo_evidence.hpp"
#include "base/clock.hpp"
#include "storage/keys_repo.hpp"
#include "storage/repo_guards.hpp"
#include "tests/system/hostile_downloads.hpp"
#include "tests/system/verify_store.hpp"

#include <csignal>
#include <thread>

// Who is fetched next, among crowds that cannot be fetched, were removed, or
// are slow.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

constexpr auto small_memory = "128MiB";
constexpr uint64_t small_memory_bytes = 128 * megabyte;

using FetchQueueStoreTest = verify_store;

class FetchQueueTest : public NetFixture {
protected:
  static test_repo account(uint64_t seed) {
    test_repo out{seed};
    out.put("app.test.note/a", make_record("one"));
    out.commit();
    return out;
  }

  FetchQueueTest() {
    relay.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  }

  hostile_stream stream;
  hostile_host relay; ///< The directory and the honest host as well.
};

/// A node's answer would come in an hour.
void say_nothing(raw_peer& peer, const std::string&) {
  std::string ignored;
  while (peer.read_some(ignored, -1) == raw_peer::outcome::data)
    continue;
}

/// A true repo and after it blocks that nothing links.
/// @param pace Times 20 KB/s.
hostile_host::script slow_download(const test_repo& repo, size_t pace = 1) {
  auto blocks = repo.blocks();
  const auto first = whole_car(blocks);
  const auto block = make_record(std::string(9'900, 'x'));
  blocks.emplace_back(atproto::cid::of_dag_cbor(block), block);
  std::string section;
  for (size_t i = 0; i < pace; ++i)
    section += as_text(whole_car(blocks)).substr(first.size());
  const auto start = "HTTP/1.1 200 OK\r\nContent-Length: 900000000\r\n\r\n"
                     + std::string{as_text(repo.export_car())};
  return [=](raw_peer& peer, const std::string&) {
    peer.send(start);
    std::string ignored;
    while (peer.read_some(ignored, 500) == raw_peer::outcome::timeout
           && peer.send(section))
      continue;
  };
}

/// Puts repos with this row into a store that no node has open, in front of all
/// others.
void add_rows(damaged_copy& store, const storage::repo_row& row, size_t repos) {
  storage::write_batch rows;
  for (size_t i = 0; i < repos; ++i) {
    const auto number = std::to_string(10'000 + i);
    std::string text = "did:plc:2222222222222222222";
    for (const auto c : number)
      text += static_cast<char>('a' + (c - '0'));
    const auto did = atproto::did::trusted(text);
    rows.put(encode_key(storage::repo_key{did}), storage::encode_value(row));
    rows.put(encode_key(storage::repo_by_status_key{
               row.status, storage::due_of(row), did}),
             "");
    rows.put(encode_key(storage::member_key{storage::default_dataset, did}),
             storage::encode_value(storage::member_row{1, {}}));
  }
  store.write(rows);
}

/// All that are synced want a fetch.
size_t doubt_all(damaged_copy& store) {
  std::vector<atproto::did> repos;
  auto rows = store.db().scan(storage::range_of<storage::repo_by_status_key>(
    storage::repo_status::synced));
  for (; rows.valid(); rows.next())
    repos.push_back(
      storage::decode_key<storage::repo_by_status_key>(rows.key())
        .value()
        .repo);
  for (const auto& repo : repos) {
    store.erase(encode_key(storage::repo_by_status_key{
      storage::repo_status::synced, 0, repo}));
    store.put(encode_key(storage::repo_by_status_key{
                storage::repo_status::desync, 0, repo}),
              "");
    store.change<storage::repo_row>(storage::repo_key{repo}, [](auto& row) {
      row.status = storage::repo_status::desync;
    });
  }
  return repos.size();
}

} // namespace

// SYNC-10; reliability.md P9: repos that cannot be fetched, more than the queue
// has places, keep nobody from being fetched, and cost nothing afterwards.
TEST_F(FetchQueueStoreTest, ActiveReposBehindACrowdThatIsAwayAreFetched) {
  actors::node_config config;
  config.memory_limit = small_memory_bytes;
  const auto places = actors::plan_memory(config).fetch_queue;
  damaged_copy store{data};
  storage::repo_row away;
  away.account = storage::account_status::deactivated;
  away.filter_generation = 1;
  add_rows(store, away, places + 100);
  const auto live = doubt_all(store);
  ASSERT_GT(live, 0u);
  program node{
    net.arguments(store.close(), {"--memory-limit", small_memory,
                                  "--sync-parallelism", "4"})};
  const auto at = parse_ready(node.read_line(node_patience).value_or(""));
  ASSERT_NE(at.data, "") << tail_of(node.errors());
  const auto web = apps::web_client::make();
  EXPECT_TRUE(eventually(node_patience, [&] {
    return status_of(*web, at).synced == live;
  })) << status_of(*web, at).synced;
  // The time itself is what is tested. In the first seconds the start ends.
  std::this_thread::sleep_for(2s);
  const auto before = node.cpu_time();
  std::this_thread::sleep_for(3s);
  EXPECT_LT(node.cpu_time() - before, 3 * 100ms * slowness);
  EXPECT_LT(node.peak_bytes(), small_memory_bytes + memory_slack);
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(10s), 0);
}

// SYNC-10, SYNC-14: failed repos that wait for their time, more than the queue
// has places, keep nobody from being fetched.
TEST_F(FetchQueueStoreTest, WhoWantsAFetchHasAPlaceBeforeThoseThatWait) {
  actors::node_config config;
  config.memory_limit = small_memory_bytes;
  const auto places = actors::plan_memory(config).fetch_queue;
  damaged_copy store{data};
  storage::repo_row failed;
  failed.status = storage::repo_status::error;
  failed.error = "unreachable: as the test says";
  failed.filter_generation = 1;
  failed.retry_count = 7;
  failed.next_retry = system_clock().wall_now().seconds() + 3'000;
  add_rows(store, failed, places + 100);
  program node{net.arguments(
    store.close(), {"--memory-limit", small_memory, "--listing-interval", "30d",
                    "--listing-grace", "1h", "--retry-backoff-max", "1h",
                    "--sync-parallelism", "4"})};
  const auto at = parse_ready(node.read_line(node_patience).value_or(""));
  ASSERT_NE(at.data, "") << tail_of(node.errors());
  const auto web = apps::web_client::make();
  const auto metric = [&](const char* name, const char* label) {
    const auto page = web->get(at.operations + "/metrics").value();
    return apps::metric_total(as_text(page.body), name, label);
  };
  ASSERT_TRUE(eventually(node_patience,
                         [&] {
                           return metric("weir_backfill_queue_depth", "")
                                  >= places;
                         }))
    << metric("weir_backfill_queue_depth", "");
  const auto done = [&] {
    return metric("weir_backfill_finished_total", "result=\"ok\"");
  };
  const auto before = done();
  const auto did = net.life().truth().view(0).id.str();
  const auto answer
    = web->post(at.data + "/repos/resync", R"({"dids":[")" + did + R"("]})");
  ASSERT_TRUE(answer);
  EXPECT_EQ(as_text(answer->body), R"({"queued":1})");
  EXPECT_TRUE(eventually(node_patience, [&] {
    return done() > before;
  }));
}

// SYNC-30: whoever is removed while its host is looked up gives its place back.
TEST_F(FetchQueueTest, ReposThatAreRemovedDuringTheirLookUpStopNobody) {
  std::vector<atproto::did> removed;
  for (uint64_t i = 0; i < 80; ++i) {
    removed.push_back(account(1'000 + i).did());
    relay.on_document(removed.back(), say_nothing);
  }
  hostile_node node{{"relay:" + relay.url()}, relay.url()};
  node.add(removed);
  ASSERT_TRUE(node.await_metric("weir_backfill_queue_depth ", 80));
  node.remove(removed);
  std::vector<atproto::did> others;
  for (uint64_t i = 0; i < 5; ++i) {
    const auto repo = account(2'000 + i);
    relay.publish_and_serve(repo);
    others.push_back(repo.did());
  }
  node.add(others);
  for (const auto& did : others)
    node.await(did, "synced");
}

// reliability.md P11: a host with many accounts whose downloads crawl does not
// keep the permits for half an hour, nor the places of those that wait.
TEST_F(FetchQueueTest, ASlowHostWithManyAccountsDoesNotStopOthers) {
  hostile_host slow;
  std::vector<atproto::did> crowd;
  for (uint64_t i = 0; i < 80; ++i) {
    const auto repo = account(1'000 + i);
    relay.publish(repo, slow.url());
    slow.on_repo(repo.did(), slow_download(repo));
    crowd.push_back(repo.did());
  }
  hostile_node node{{"relay:" + relay.url()},
                    relay.url(),
                    {"--sync-parallelism", "3", "--sync-per-host", "4"}};
  node.add(crowd);
  ASSERT_TRUE(node.await_metric("weir_backfill_started_total ", 3));
  std::vector<atproto::did> others;
  for (uint64_t i = 0; i < 20; ++i) {
    const auto repo = account(2'000 + i);
    relay.publish_and_serve(repo);
    others.push_back(repo.did());
  }
  node.add(others);
  for (const auto& did : others)
    node.await(did, "synced");
  EXPECT_GE(node.metric("weir_backfill_given_back_total "), 1u);
  for (const auto& did : crowd)
    EXPECT_EQ(node.repo(did).tries, 0u) << "that is no failure of the repo";
}

// reliability.md P11: who has few repos does not wait for all of a host that
// was there first.
TEST_F(FetchQueueTest, ReposOfTwoHostsAreFetchedInTurn) {
  constexpr size_t crowd_size = 200;
  hostile_host crowded;
  std::vector<atproto::did> crowd;
  for (uint64_t i = 0; i < crowd_size; ++i) {
    const auto repo = account(1'000 + i);
    relay.publish(repo, crowded.url());
    crowded.on_repo(repo.did(),
                    [answer = http_answer(200, as_text(repo.export_car()))](
                      raw_peer& peer, const std::string&) {
                      std::string ignored;
                      peer.read_some(ignored, 50); // A host of average speed.
                      peer.send(answer);
                    });
    crowd.push_back(repo.did());
  }
  hostile_node node{{"relay:" + relay.url()},
                    relay.url(),
                    {"--sync-parallelism", "3", "--sync-per-host", "4"}};
  node.add(crowd);
  ASSERT_TRUE(node.await_metric("weir_backfill_started_total ", 3));
  std::vector<atproto::did> others;
  for (uint64_t i = 0; i < 10; ++i) {
    const auto repo = account(2'000 + i);
    relay.publish_and_serve(repo);
    others.push_back(repo.did());
  }
  node.add(others);
  for (const auto& did : others)
    node.await(did, "synced");
  EXPECT_LT(node.metric("weir_backfill_started_total "), crowd_size / 2);
}

// The same of hosts that have no more than their share
TEST_F(FetchQueueTest, SlowHostsWithOneAccountEachDoNotStopOthers) {
  hostile_host slow[3];
  std::vector<atproto::did> crowd;
  for (uint64_t i = 0; i < 3; ++i) {
    const auto repo = account(1'000 + i);
    relay.publish(repo, slow[i].url());
    slow[i].on_repo(repo.did(), slow_download(repo));
    crowd.push_back(repo.did());
  }
  hostile_node node{{"relay:" + relay.url()},
                    relay.url(),
                    {"--sync-parallelism", "3"}};
  node.add(crowd);
  ASSERT_TRUE(node.await_metric("weir_backfill_started_total ", 3));
  const auto repo = account(2'000);
  relay.publish_and_serve(repo);
  node.add({repo.did()});
  node.await(repo.did(), "synced");
  EXPECT_GE(node.metric("weir_backfill_crawled_total "), 1u);
  for (const auto& did : crowd)
    EXPECT_EQ(node.repo(did).tries, 0u) << "that is no failure of the repo";
}

// The same when it is fast enough to be no slow one: what it got while nobody
// waited it gives back.
TEST_F(FetchQueueTest, AHostThatTookAllPermitsGivesThemBackToOthers) {
  hostile_host greedy;
  std::vector<atproto::did> crowd;
  for (uint64_t i = 0; i < 20; ++i) {
    const auto repo = account(1'000 + i);
    relay.publish(repo, greedy.url());
    greedy.on_repo(repo.did(), slow_download(repo, 8));
    crowd.push_back(repo.did());
  }
  hostile_node node{{"relay:" + relay.url()},
                    relay.url(),
                    {"--sync-parallelism", "3", "--sync-per-host", "4"}};
  node.add(crowd);
  ASSERT_TRUE(node.await_metric("weir_backfill_started_total ", 3));
  std::vector<atproto::did> others;
  for (uint64_t i = 0; i < 20; ++i) {
    const auto repo = account(2'000 + i);
    relay.publish_and_serve(repo);
    others.push_back(repo.did());
  }
  node.add(others);
  for (const auto& did : others)
    node.await(did, "synced");
  EXPECT_GE(node.metric("weir_backfill_given_back_total "), 1u);
  for (const auto& did : crowd)
    EXPECT_EQ(node.repo(did).tries, 0u) << "that is no failure of the repo";
}

} // namespace weir::tests
