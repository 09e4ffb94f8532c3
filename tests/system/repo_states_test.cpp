#include "apps/weir/web_client.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <list>

// The states of repos, their queue and their retries in the answers of a
// running node (SYNC-01 to SYNC-16).

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

/// A host whose downloads wait at a gate.
class RepoStatesTest : public testing::Test {
protected:
  RepoStatesTest() {
    host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  }

  ~RepoStatesTest() override { open_gate(); }

  live_repo& account() {
    auto& out = repos.emplace_back(repos.size() + 1);
    out.put("app.test.note/a", make_record("one"));
    out.put("app.test.like/a", make_record("two"));
    out.commit();
    host.publish_and_serve(out);
    return out;
  }

  /// Its download is sent when the gate is open.
  void hold(const test_repo& repo) {
    const std::string car{as_text(repo.export_car())};
    host.on_repo(repo.did(), [this, car](raw_peer& peer, const std::string&) {
      std::unique_lock lock{guard};
      ++arrived;
      most = std::max(most, ++waiting);
      changed.notify_all();
      changed.wait(lock, [this] { return gate || passes > 0; });
      passes -= gate ? 0 : 1;
      --waiting;
      lock.unlock();
      peer.send(http_answer(200, car));
    });
  }

  void fail(const test_repo& repo) {
    host.on_repo(repo.did(), say(http_answer(500, R"({"error":"Broken"})")));
  }

  void open_gate() {
    const std::lock_guard lock{guard};
    gate = true;
    changed.notify_all();
  }

  void let_one_pass() {
    const std::lock_guard lock{guard};
    ++passes;
    changed.notify_all();
  }

  /// Waits until `downloads` have arrived at the gate, including those of a
  /// node that was killed meanwhile.
  bool await_arrivals(size_t downloads) {
    std::unique_lock lock{guard};
    return changed.wait_for(lock, node_patience,
                            [&] { return arrived >= downloads; });
  }

  void start(std::vector<std::string> more) {
    more.insert(more.end(), {"--mode", "manual"});
    node = std::make_unique<hostile_node>(std::vector{"pds:" + host.url()},
                                          host.url(), std::move(more));
  }

  boost::json::object row(const test_repo& repo) {
    const auto answer
      = web->get(node->data_url() + "/repos/" + repo.did().str());
    auto out = answer ? boost::json::parse(as_text(answer->body))
                      : boost::json::value{};
    return out.is_object() ? out.as_object() : boost::json::object{};
  }

  std::string status(const test_repo& repo) {
    return std::string{row(repo).at("status").as_string()};
  }

  uint64_t number(const test_repo& repo, std::string_view key) {
    const auto x = row(repo);
    return x.contains(key) ? x.at(key).to_number<uint64_t>() : 0;
  }

  void post(const std::string& path, const std::string& body) {
    const auto answer = web->post(node->data_url() + path, body);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200) << as_text(answer->body);
  }

  /// Makes a commit that does not follow the one that the node has.
  void break_chain(live_repo& repo) {
    for (const auto* name : {"app.test.note/lost", "app.test.note/sent"}) {
      repo.put(name, make_record("more"));
      broken = repo.draft();
    }
    broken.seq = ++seq;
    ASSERT_TRUE(stream.send(broken.encode(broken.sign(repo.key()))));
  }

  std::mutex guard;
  std::condition_variable changed;
  bool gate = false;
  /// Number of downloads that may pass while the gate is closed.
  size_t passes = 0;
  size_t arrived = 0; ///< Number that ever arrived at the gate.
  size_t waiting = 0; ///< Number at the gate now.
  size_t most = 0;
  inbox<steady_time> tries;
  hostile_stream stream;
  hostile_host host; ///< Its threads use the members above.
  std::list<live_repo> repos;
  std::unique_ptr<hostile_node> node;
  std::unique_ptr<apps::web_client> web = apps::web_client::make();
  commit_draft broken;
  int64_t seq = 0;
};

} // namespace

// SYNC-01 to SYNC-09, SYNC-13, SYNC-16, SYNC-33: there is one permit, and a
// download has it
TEST_F(RepoStatesTest, EveryStatusIsToldAndOutlivesARestart) {
  auto& failing = account();
  auto& broken_repo = account();
  auto& fetched = account();
  auto& waits = account();
  start({"--sync-parallelism", "1", "--retry-backoff-min", "1h"});
  fail(failing);
  node->add({failing.did(), broken_repo.did()});
  ASSERT_GT(node->await_failure(failing.did()).tries, 0u);
  ASSERT_EQ(node->await(broken_repo.did(), "synced").status, "synced");
  const auto synced = row(broken_repo);
  EXPECT_EQ(synced.at("rev").as_string(), broken_repo.rev().str());
  EXPECT_EQ(synced.at("record_count").as_int64(), 2);
  EXPECT_GT(synced.at("last_sync").as_int64(), 0);
  EXPECT_FALSE(synced.contains("error"));
  hold(fetched);
  node->add({fetched.did()});
  ASSERT_TRUE(await_arrivals(1));
  hold(waits);
  node->add({waits.did()});
  break_chain(broken_repo);
  hold(broken_repo);
  EXPECT_EQ(node->await(broken_repo.did(), "desync").status, "desync");
  EXPECT_EQ(status(fetched), "syncing");
  EXPECT_EQ(status(waits), "pending");
  const auto error = row(failing);
  EXPECT_EQ(error.at("status").as_string(), "error");
  EXPECT_NE(error.at("error").as_string().find("500"), std::string::npos);
  EXPECT_EQ(error.at("retry_count").as_int64(), 1);
  EXPECT_GT(error.at("next_retry").as_int64(), 0);

  node->kill([] {});
  auto after = row(failing);
  for (const auto* key : {"status", "error", "retry_count", "next_retry"})
    EXPECT_EQ(after.at(key), error.at(key)) << key;
  after = row(broken_repo); // It was not downloaded again.
  for (const auto* key : {"rev", "record_count", "last_sync"})
    EXPECT_EQ(after.at(key), synced.at(key)) << key;
  ASSERT_TRUE(await_arrivals(2));
  // The others keep their former state until they are woken.
  size_t fetching = 0;
  eventually(node_patience, [&] {
    fetching = 0;
    for (const auto* repo : {&fetched, &waits, &broken_repo})
      fetching += status(*repo) == "syncing" ? 1 : 0;
    return fetching == 1;
  });
  EXPECT_EQ(fetching, 1u);
  for (const auto* repo : {&fetched, &waits, &broken_repo})
    EXPECT_THAT(status(*repo),
                testing::AnyOf("syncing",
                               repo == &broken_repo ? "desync" : "pending"));
  open_gate();
  host.serve(failing);
  post("/repos/resync", R"({"dids":[")" + failing.did().str() + "\"]}");
  for (const auto& repo : repos) {
    EXPECT_EQ(node->await(repo.did(), "synced").rev, repo.rev().str());
    EXPECT_EQ(number(repo, "retry_count"), 0u);
    EXPECT_FALSE(row(repo).contains("error"));
  }
}

// SYNC-01: collections of its own
TEST_F(RepoStatesTest, CollectionsOfARepoAreShownAndOutliveARestart) {
  auto& all = account();
  auto& some = account();
  start({});
  node->add({all.did()});
  post("/repos/add", R"({"dids":[")" + some.did().str()
                       + R"("],"collections":["app.test.like"]})");
  for (int life = 0; life < 2; ++life) {
    EXPECT_EQ(node->await(all.did(), "synced").records, 2u);
    EXPECT_EQ(node->await(some.did(), "synced").records, 1u);
    EXPECT_FALSE(row(all).contains("collections"));
    EXPECT_EQ(boost::json::serialize(row(some).at("collections")),
              R"(["app.test.like"])");
    if (life == 0)
      node->restart([] {});
  }
}

// SYNC-10, SYNC-11, SYNC-12: there are as many downloads as permits, and the
// next begins when one has ended
TEST_F(RepoStatesTest, NeverMoreAreFetchedAtOnceThanAllowed) {
  constexpr size_t allowed = 2; // Not the default.
  std::vector<atproto::did> dids;
  for (size_t i = 0; i < 6 * allowed; ++i) {
    hold(account());
    dids.push_back(repos.back().did());
  }
  start({"--sync-parallelism", std::to_string(allowed), "--sync-per-host",
         std::to_string(dids.size())});
  node->add(dids);
  for (size_t ended = 0; ended + allowed < dids.size(); ++ended) {
    ASSERT_TRUE(await_arrivals(allowed + ended));
    let_one_pass();
  }
  open_gate();
  for (const auto& repo : repos)
    EXPECT_EQ(node->await(repo.did(), "synced").rev, repo.rev().str());
  EXPECT_EQ(most, allowed);
}

// SYNC-06, SYNC-13, SYNC-14, SYNC-15: the delay grows up to its limit
TEST_F(RepoStatesTest, AFailedFetchIsTriedAgainLaterAndLater) {
  auto& repo = account();
  host.on_repo(repo.did(), [&](raw_peer& peer, const std::string&) {
    tries.push(system_clock().steady_now());
    peer.send(http_answer(500, "{}"));
  });
  start({"--retry-backoff-min", "1s", "--retry-backoff-max", "4s"});
  node->add({repo.did()});
  auto last = tries.pop();
  ASSERT_TRUE(last);
  for (const auto delay : {1s, 2s, 4s, 4s}) {
    const auto next = tries.pop();
    ASSERT_TRUE(next);
    // Rows have times in whole seconds.
    EXPECT_GE(*next - *last, std::chrono::microseconds{delay} - 1s);
    last = next;
  }
  EXPECT_GE(number(repo, "retry_count"), 4u);
  host.serve(repo);
  EXPECT_EQ(node->await(repo.did(), "synced").status, "synced");
}

} // namespace weir::tests
