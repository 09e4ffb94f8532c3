#include "actors/node/memory_plan.hpp"
#include "actors/node/node_config.hpp"
#include "apps/demo/evidence.hpp"
#include "base/clock.hpp"
#include "storage/format/keys_repo.hpp"
#include "storage/log/repo_guards.hpp"
#include "tests/system/crowd_rows.hpp"
#include "tests/system/hostile_downloads.hpp"
#include "tests/system/verify_store.hpp"

#include <csignal>

// Which repo is fetched next when crowds cannot be fetched, were removed, or
// are slow.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

constexpr auto small_memory = "128MiB";
constexpr uint64_t small_memory_bytes = 128 * megabyte;

/// A node that starts with a store of more repos than its queue has places.
class FetchQueueStoreTest : public verify_store {
protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(verify_store::SetUp());
    store = std::make_unique<damaged_copy>(data);
  }

  /// Adds rows that sort before all others.
  void add_crowd(const storage::repo_row& row) {
    store->each([&] {
      store->write(crowd_rows(row, places + 100, store->db().identity()));
    });
  }

  void start(std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--memory-limit", small_memory,
                             "--sync-parallelism", "4"});
    node = std::make_unique<program>(
      net.arguments(store->close(), std::move(more)));
    at = parse_ready(node->read_line(node_patience).value_or(""));
    ASSERT_NE(at.data, "") << tail_of(node->errors());
  }

  uint64_t metric(const char* name, const char* label = "") {
    const auto page = web->get(at.operations + "/metrics").value();
    return apps::metric_total(as_text(page.body), name, label);
  }

  bool await_metric(const char* name, uint64_t least) {
    return eventually(node_patience, [&] {
      return metric(name) >= least;
    });
  }

  const size_t places = [] {
    actors::node_config config;
    config.memory_limit = small_memory_bytes;
    return actors::plan_memory(config).fetch_queue;
  }();
  std::unique_ptr<damaged_copy> store; ///< Contains the node's directory.
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
  std::unique_ptr<program> node;
  node_addresses at;
};

/// A node that gets a crowd of repos, and then a few of an honest host.
class FetchQueueTest : public NetFixture {
protected:
  using make_script = std::function<hostile_host::script(const test_repo&)>;

  static constexpr size_t permits = 3;

  FetchQueueTest() {
    relay.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  }

  static live_repo account(uint64_t seed) {
    live_repo out{seed};
    out.put("app.test.note/a", make_record("one"));
    out.commit();
    return out;
  }

  /// Adds accounts on one more host.
  void add_crowd(size_t accounts, const make_script& make) {
    auto& host = hosts.emplace_back();
    for (size_t i = 0; i < accounts; ++i) {
      const auto repo = account(1'000 + crowd.size());
      relay.publish(repo, host.url());
      host.on_repo(repo.did(), make(repo));
      crowd.push_back(repo.did());
    }
  }

  void start(std::vector<std::string> more = {}) {
    node = std::make_unique<hostile_node>(
      std::vector{"relay:" + relay.url()}, relay.url(), std::move(more));
    node->add(crowd);
  }

  /// Starts with the crowd, which takes all permits.
  void start_occupied(std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--sync-parallelism", std::to_string(permits)});
    start(std::move(more));
    ASSERT_TRUE(node->await_metric("weir_backfill_started_total ", permits));
  }

  void expect_others_synced(size_t repos) {
    std::vector<atproto::did> others;
    for (uint64_t i = 0; i < repos; ++i) {
      const auto repo = account(2'000 + i);
      relay.publish_and_serve(repo);
      others.push_back(repo.did());
    }
    node->add(others);
    for (const auto& did : others)
      node->await(did, "synced");
  }

  void expect_no_failures() {
    for (const auto& did : crowd)
      EXPECT_EQ(node->repo(did).tries, 0u) << "that is no failure of the repo";
  }

  hostile_stream stream;
  hostile_host relay;            ///< Also the directory and the honest host.
  std::list<hostile_host> hosts; ///< Hosts of the crowd.
  std::vector<atproto::did> crowd;
  std::unique_ptr<hostile_node> node; ///< Ends first: scripts wait for it.
};

/// Never answers.
void say_nothing(raw_peer& peer, const std::string&) {
  std::string ignored;
  while (peer.read_some(ignored, -1) == raw_peer::outcome::data)
    continue;
}

/// A real repo, followed by blocks that nothing links to.
/// @param pace A multiple of 20 KB/s.
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

/// Marks all synced repos as due for a fetch.
/// @param due The due time, in Unix seconds.
size_t doubt_all(damaged_copy& store,
                 storage::repo_status status = storage::repo_status::desync,
                 int64_t due = 0) {
  using storage::repo_by_status_key;
  constexpr auto synced = storage::repo_status::synced;
  size_t out = 0;
  store.each([&] {
    std::vector<atproto::did> repos;
    auto rows = store.db().scan(storage::range_of<repo_by_status_key>(synced));
    for (; rows.valid(); rows.next())
      repos.push_back(
        storage::decode_key<repo_by_status_key>(rows.key()).value().repo);
    for (const auto& repo : repos) {
      store.erase(encode_key(repo_by_status_key{synced, 0, repo}));
      store.change<storage::repo_row>(storage::repo_key{repo}, [&](auto& row) {
        row.status = status;
        row.next_retry = due;
        store.put(
          encode_key(repo_by_status_key{status, storage::due_of(row), repo}),
          "");
      });
    }
    out += repos.size();
  });
  return out;
}

} // namespace

// SYNC-10; actors.md, Who is fetched next: more repos than the queue has places
// cannot be fetched. They do not keep others from being fetched, and cost
// nothing afterwards.
TEST_F(FetchQueueStoreTest, ActiveReposBehindACrowdThatIsAwayAreFetched) {
  storage::repo_row away;
  away.account = storage::account_status::deactivated;
  away.filter_generation = 1;
  add_crowd(away);
  const auto live = doubt_all(*store);
  ASSERT_GT(live, 0u);
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_TRUE(eventually(node_patience, [&] {
    return status_of(*web, at).synced == live;
  })) << status_of(*web, at).synced;
  // Work of the start ends before the next listing does: a scan comes each
  // second, a listing every two or three.
  constexpr auto listings = "weir_listing_finished_total";
  const auto so_far = metric(listings);
  ASSERT_TRUE(await_metric(listings, so_far + 1));
  const auto used_before = node->cpu_time();
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(await_metric(listings, so_far + 3));
  const auto passed = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(node->cpu_time() - used_before, passed / 10 * slowness);
  EXPECT_LT(node->peak_bytes(), small_memory_bytes + memory_slack);
  node->send(SIGTERM);
  EXPECT_EQ(node->wait(10s), 0);
}

// SYNC-10, SYNC-14: more failed repos than the queue has places wait for their
// retry. They do not keep others from being fetched.
TEST_F(FetchQueueStoreTest, WhoWantsAFetchHasAPlaceBeforeThoseThatWait) {
  storage::repo_row failed;
  failed.status = storage::repo_status::error;
  failed.error = "unreachable: as the test says";
  failed.filter_generation = 1;
  failed.retry_count = 7;
  failed.next_retry = system_clock().wall_now().seconds() + 3'000;
  add_crowd(failed);
  ASSERT_NO_FATAL_FAILURE(start({"--listing-interval", "30d",
                                 "--listing-grace", "1h",
                                 "--retry-backoff-max", "1h"}));
  ASSERT_TRUE(await_metric("weir_backfill_queue_depth", places))
    << metric("weir_backfill_queue_depth");
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

// SYNC-10, SYNC-14: more repos than the queue has places fail again and keep
// their places until their retry. Others are still read.
TEST_F(FetchQueueStoreTest, ReposBehindACrowdThatFailsAgainAreFetched) {
  storage::repo_row failed;
  failed.status = storage::repo_status::error;
  failed.error = "unreachable: as the test says";
  failed.filter_generation = 1;
  failed.retry_count = 20;
  failed.next_retry = 1;
  add_crowd(failed);
  // The store is read in the order of these times.
  const auto live = doubt_all(*store, storage::repo_status::error, 2);
  ASSERT_GT(live, 0u);
  ASSERT_NO_FATAL_FAILURE(start({"--listing-interval", "30d",
                                 "--listing-grace", "1h",
                                 "--retry-backoff-max", "1h"}));
  EXPECT_TRUE(eventually(2 * node_patience, [&] {
    return status_of(*web, at).synced == live;
  })) << status_of(*web, at).synced;
}

// SYNC-30: a repo that is removed during the look-up of its host returns its
// place.
TEST_F(FetchQueueTest, ReposThatAreRemovedDuringTheirLookUpStopNobody) {
  for (uint64_t i = 0; i < 80; ++i) {
    crowd.push_back(account(1'000 + i).did());
    relay.on_document(crowd.back(), say_nothing);
  }
  start();
  ASSERT_TRUE(node->await_metric("weir_backfill_queue_depth ", crowd.size()));
  node->remove(crowd);
  expect_others_synced(5);
}

// actors.md, Who is fetched next: a host with many accounts and very slow
// downloads does not keep the permits for half an hour, nor the places of
// waiting repos.
TEST_F(FetchQueueTest, ASlowHostWithManyAccountsDoesNotStopOthers) {
  add_crowd(80, [](const auto& repo) { return slow_download(repo); });
  ASSERT_NO_FATAL_FAILURE(start_occupied({"--sync-per-host", "4"}));
  expect_others_synced(20);
  EXPECT_GE(node->metric("weir_backfill_given_back_total "), 1u);
  expect_no_failures();
}

// actors.md, Who is fetched next: a host with few repos does not wait for all
// repos of a host that came first.
TEST_F(FetchQueueTest, ReposOfTwoHostsAreFetchedInTurn) {
  add_crowd(200, [](const auto& repo) {
    return [answer = http_answer(200, as_text(repo.export_car()))](
             raw_peer& peer, const std::string&) {
      std::string ignored;
      peer.read_some(ignored, 50); // A host of average speed.
      peer.send(answer);
    };
  });
  ASSERT_NO_FATAL_FAILURE(start_occupied({"--sync-per-host", "4"}));
  expect_others_synced(10);
  EXPECT_LT(node->metric("weir_backfill_started_total "), crowd.size() / 2);
}

// The same for hosts that have no more than their share
TEST_F(FetchQueueTest, SlowHostsWithOneAccountEachDoNotStopOthers) {
  for (size_t i = 0; i < permits; ++i)
    add_crowd(1, [](const auto& repo) { return slow_download(repo); });
  ASSERT_NO_FATAL_FAILURE(start_occupied());
  expect_others_synced(1);
  EXPECT_GE(node->metric("weir_backfill_too_slow_total "), 1u);
  expect_no_failures();
}

// The same for a host that is too fast to count as slow: it returns the permits
// that it got while no other host waited.
TEST_F(FetchQueueTest, AHostThatTookAllPermitsGivesThemBackToOthers) {
  add_crowd(20, [](const auto& repo) { return slow_download(repo, 8); });
  ASSERT_NO_FATAL_FAILURE(start_occupied({"--sync-per-host", "4"}));
  expect_others_synced(20);
  EXPECT_GE(node->metric("weir_backfill_given_back_total "), 1u);
  expect_no_failures();
}

} // namespace weir::tests
