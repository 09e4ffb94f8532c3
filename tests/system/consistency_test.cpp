#include "apps/weir/web_client.hpp"
#include "storage/collection_table.hpp"
#include "storage/keys_repo.hpp"
#include "storage/repo_table.hpp"
#include "storage/values.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <future>

// The consistency model on a running node, event by event: what a host does is
// in the hands of the test, and what the node remembers is what it tells.

namespace weir::tests {

namespace {

constexpr auto list_path = "/xrpc/com.atproto.sync.listRepos";
constexpr auto status_path = "/xrpc/com.atproto.sync.getRepoStatus";
constexpr auto latest_path = "/xrpc/com.atproto.sync.getLatestCommit";

class ConsistencyTest : public testing::Test {
protected:
  ConsistencyTest() {
    host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    repo.put("app.test.note/a", make_record("one"));
    repo.commit();
    host.publish_and_serve(repo);
  }

  void start(std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--mode", "manual"});
    node = std::make_unique<hostile_node>(std::vector{"pds:" + host.url()},
                                          host.url(), std::move(more));
    // Then its stream has a position; what was fetched before proves nothing.
    EXPECT_TRUE(eventually(node_patience, [this] {
      return host.asked(list_path) > 0;
    }));
    node->add({repo.did()});
  }

  void start_synced(std::vector<std::string> more = {}) {
    start(std::move(more));
    ASSERT_EQ(node->await(repo.did(), "synced").status, "synced");
  }

  /// The next commit of the repo, which has one record more.
  commit_draft next() {
    repo.put("app.test.note/" + std::to_string(++records), make_record("more"));
    auto out = repo.draft();
    out.seq = ++seq;
    return out;
  }

  void send(const commit_draft& x) {
    ASSERT_TRUE(stream.send(x.encode(x.sign(repo.key()))));
  }

  void send_info() {
    ASSERT_TRUE(stream.send(
      atproto::encode_frame(atproto::info_event{"OutdatedCursor", ""})));
  }

  boost::json::object told() {
    const auto answer = web->get(node->data_url() + "/v1/repos/"
                                 + repo.did().str() + "/completeness");
    auto out = answer ? boost::json::parse(as_text(answer->body))
                      : boost::json::value{};
    return out.is_object() ? out.as_object() : boost::json::object{};
  }

  std::string text_told(std::string_view key) {
    const auto x = told();
    const auto* value = x.if_contains(key);
    return value != nullptr && value->is_string()
             ? std::string{value->as_string()}
             : std::string{};
  }

  bool complete() {
    const auto x = told();
    const auto* value = x.if_contains("complete");
    return value != nullptr && value->is_bool() && value->as_bool();
  }

  bool await_complete() {
    const auto out = eventually(node_patience, [this] { return complete(); });
    EXPECT_TRUE(out) << boost::json::serialize(told()) << tail_of(node->log());
    return out;
  }

  /// Why a term does not hold; empty: it does.
  std::string reason_of(std::string_view term) {
    const auto all = told();
    for (const auto& x : all.at("terms").as_array())
      if (x.at("term").as_string() == term && !x.at("holds").as_bool())
        return std::string{x.at("reason").as_string()};
    return {};
  }

  bool await_rev(std::string_view key, const atproto::tid& rev) {
    const auto out = eventually(node_patience, [&] {
      return text_told(key) == rev.str();
    });
    EXPECT_TRUE(out) << key << ' ' << boost::json::serialize(told());
    return out;
  }

  int64_t epoch_of(std::string_view key) {
    return told().at(key).at("epoch").to_number<int64_t>();
  }

  std::string listing_of(const test_repo& x) const {
    return http_answer(200, R"({"repos":[{"did":")" + x.did().str()
                              + R"(","head":")" + x.data().to_text()
                              + R"(","rev":")" + x.rev().str()
                              + R"(","active":true}]})");
  }

  uint64_t fetches() { return node->metric("weir_backfill_started_total"); }

  hostile_stream stream;
  hostile_host host;
  live_repo repo{1};
  std::unique_ptr<hostile_node> node;
  std::unique_ptr<apps::web_client> web = apps::web_client::make();
  size_t records = 0;
  int64_t seq = 0;
};

} // namespace

// CONS-02, CONS-07, CONS-08, CONS-09, CONS-19, CONS-20, CONS-22: of the events
// since a reset the first one is remembered, and the last one
TEST_F(ConsistencyTest, TheFirstRevSinceAResetIsRememberedAndTheLastOneFollows) {
  start_synced();
  send(next());
  ASSERT_TRUE(await_rev("last_stream_rev", repo.rev()));
  const auto before = text_told("first_rev");
  const auto position = told().at("proved");
  const auto epoch = epoch_of("proved");
  send(next());
  ASSERT_TRUE(await_rev("last_stream_rev", repo.rev()));
  EXPECT_EQ(text_told("first_rev"), before) << "there was no reset";
  EXPECT_EQ(told().at("proved"), position);
  send_info();
  send(next());
  const auto first = repo.rev();
  ASSERT_TRUE(await_rev("first_rev", first));
  EXPECT_EQ(epoch_of("proved"), epoch + 1);
  send(next());
  ASSERT_TRUE(await_rev("last_stream_rev", repo.rev()));
  EXPECT_EQ(text_told("first_rev"), first.str());
  EXPECT_TRUE(await_complete()) << "its chain proves it";
  EXPECT_EQ(fetches(), 1u);
  const auto all = told();
  node->restart([] {});
  EXPECT_TRUE(await_complete());
  for (const auto* key : {"first_rev", "last_stream_rev", "last_indexed_rev",
                          "last_rev", "proved"})
    EXPECT_EQ(told().at(key), all.at(key)) << key;
}

// CONS-21; requirements.md 1b.10: nothing older than such a commit will do
TEST_F(ConsistencyTest, ACommitThatIsTooBigForTheStreamIsFetched) {
  start_synced();
  send(next());
  ASSERT_TRUE(await_rev("last_stream_rev", repo.rev()));
  const auto applied = repo.rev();
  auto large = next();
  large.too_big = true;
  large.ops.clear();
  std::promise<void> fetched;
  const auto car = http_answer(200, as_text(repo.export_car()));
  host.on_repo(repo.did(), [&, car, may = fetched.get_future().share()](
                             raw_peer& peer, const std::string&) {
    may.wait();
    peer.send(car);
  });
  send(large);
  EXPECT_TRUE(await_rev("first_rev", repo.rev()));
  EXPECT_FALSE(complete());
  EXPECT_NE(reason_of("indexed_past_first_rev").find(repo.rev().str()),
            std::string::npos);
  EXPECT_EQ(text_told("last_stream_rev"), applied.str());
  fetched.set_value();
  EXPECT_TRUE(await_complete());
  EXPECT_EQ(text_told("last_indexed_rev"), repo.rev().str());
}

// CONS-13, CONS-29, CONS-30; requirements.md 1b.7, 1b.15: nothing tells of a
// quiet repo after a reset but its host, which is asked for its rev
TEST_F(ConsistencyTest, AQuietRepoThatNoListingNamesIsProvedByItsHost) {
  host.on(list_path, say(http_answer(501, "{}")));
  host.on(status_path, say(http_answer(503, "{}")));
  start_synced();
  ASSERT_TRUE(await_complete());
  const auto epoch = epoch_of("proved");
  send_info();
  ASSERT_TRUE(eventually(node_patience, [&] {
    return reason_of("position_current")
             .find("since epoch " + std::to_string(epoch + 1))
           != std::string::npos;
  })) << reason_of("position_current");
  EXPECT_FALSE(complete());
  EXPECT_TRUE(eventually(node_patience, [&] {
    return host.asked(status_path) > 0;
  })) << tail_of(node->log());
  EXPECT_FALSE(complete());
  // It says no rev: then its last commit does.
  host.on(status_path, say(http_answer(200, R"({"did":")" + repo.did().str()
                                              + R"(","active":true})")));
  host.on(latest_path, say(http_answer(200, R"({"cid":")"
                                              + repo.data().to_text()
                                              + R"(","rev":")"
                                              + repo.rev().str() + "\"}")));
  EXPECT_TRUE(await_complete());
  EXPECT_EQ(epoch_of("proved"), epoch + 1);
  EXPECT_TRUE(told().at("upstream").at("last_audited").is_null());
  EXPECT_EQ(fetches(), 1u);
}

// The same when no host ever says a rev: that costs a fetch, and only one.
TEST_F(ConsistencyTest, AHostThatNeverTellsARevIsFetchedFromOnce) {
  for (const auto answers : {true, false}) {
    host.on(list_path, say(http_answer(501, "{}")));
    host.on(status_path, say(answers ? http_answer(200, R"({"did":")"
                                                     + repo.did().str()
                                                     + R"(","active":true})")
                                     : http_answer(404, "no such page")));
    start_synced();
    ASSERT_TRUE(await_complete());
    const auto before = fetches();
    send_info();
    ASSERT_TRUE(
      node->await_metric("weir_backfill_started_total", before + 1));
    EXPECT_TRUE(await_complete());
    EXPECT_EQ(fetches(), before + 1);
  }
}

// CONS-24, CONS-25, CONS-30; requirements.md 1b.15
TEST_F(ConsistencyTest, AQuietRepoIsProvedByAListing) {
  host.on(list_path, say(listing_of(repo)));
  start_synced();
  ASSERT_TRUE(await_complete());
  const auto before = told();
  const auto epoch = epoch_of("proved");
  EXPECT_FALSE(before.at("upstream").at("last_audited").is_null());
  const auto asked = host.asked(status_path);
  const auto fetched = fetches();
  send_info();
  EXPECT_TRUE(eventually(node_patience, [&] {
    return epoch_of("proved") == epoch + 1;
  })) << boost::json::serialize(told());
  EXPECT_TRUE(await_complete());
  EXPECT_EQ(text_told("first_rev"), repo.rev().str());
  EXPECT_EQ(host.asked(status_path), asked);
  EXPECT_EQ(fetches(), fetched);
}

// CONS-27, CONS-28: rows that say `synced` of what was never fetched, or not
// since its upstream told of it, are found by a look at all rows
TEST_F(ConsistencyTest, WhatIsCalledSyncedAndWasNotFetchedIsFetched) {
  start_synced();
  send(next()); // From now on its stream can be resumed.
  ASSERT_TRUE(await_rev("last_stream_rev", repo.rev()));
  host.serve(repo);
  host.on(list_path, say(listing_of(repo)));
  ASSERT_TRUE(await_complete());
  ASSERT_TRUE(node->await_metric("weir_upstream_cursor", 1));
  for (const auto never : {true, false}) {
    node->restart([&] {
      storage::database_options where;
      where.directory = node->data_dir();
      const auto db = storage::database::open(std::move(where)).value();
      const auto names = storage::collection_table::load(*db).value();
      auto row
        = storage::repo_table{*db, *names}.row(repo.did()).value().value();
      if (never)
        row.last_indexed_rev = {};
      else
        row.first_rev = atproto::tid::from_time(system_clock().wall_now(), 1);
      storage::write_batch out;
      out.put(encode_key(storage::repo_key{repo.did()}),
              storage::encode_value(row));
      db->write(std::move(out), storage::sync_mode::durable).value();
    });
    EXPECT_TRUE(node->await_metric("weir_backfill_started_total", 1)) << never;
    EXPECT_TRUE(await_complete());
  }
}

// CONS-06, CONS-14: a fetch that a kill cuts short has indexed nothing
TEST_F(ConsistencyTest, AKillDuringAFetchLeavesNoRevThatWasNotFetched) {
  const auto body = repo.export_car();
  const std::string car{as_text(body)};
  std::promise<void> over;
  const auto wait = over.get_future().share();
  host.on_repo(repo.did(), [=](raw_peer& peer, const std::string&) {
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: "
              + std::to_string(car.size()) + "\r\n\r\n"
              + car.substr(0, car.size() / 2));
    wait.wait();
  });
  start();
  ASSERT_TRUE(node->await_metric("weir_backfill_started_total", 1));
  ASSERT_TRUE(eventually(node_patience, [&] {
    return text_told("status") == "syncing";
  }));
  node->kill([] {});
  EXPECT_TRUE(told().at("last_indexed_rev").is_null());
  EXPECT_FALSE(complete());
  host.serve(repo);
  over.set_value();
  node->kill([] {});
  EXPECT_TRUE(await_complete());
  EXPECT_EQ(text_told("last_indexed_rev"), repo.rev().str());
}

// CONS-04: by what is on disk, since nothing else outlives a restart
TEST_F(ConsistencyTest, AReconnectGoesOnFromThePositionOnDisk) {
  start_synced();
  const auto first = stream.heads.pop();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->find("cursor="), std::string::npos) << *first;
  seq = 41;
  send(next());
  ASSERT_TRUE(node->await_metric("weir_upstream_cursor", 42));
  node->restart([] {});
  const auto again = stream.heads.pop();
  ASSERT_TRUE(again);
  EXPECT_NE(again->find("cursor=42 "), std::string::npos) << *again;
}

// CONS-16: by default a gap in the numbers is nothing, protocol.md 1
TEST_F(ConsistencyTest, AJumpOfTheNumbersIsAResetWhereSomebodySaysSo) {
  for (const auto contiguous : {false, true}) {
    seq = 0;
    start_synced(contiguous
                   ? std::vector<std::string>{"--assume-contiguous-seq"}
                   : std::vector<std::string>{});
    send(next());
    ASSERT_TRUE(await_rev("last_stream_rev", repo.rev()));
    ASSERT_TRUE(node->await_metric("weir_upstream_cursor", 1));
    const auto epoch = epoch_of("proved");
    node->restart([&] { seq = 100; });
    send(next());
    ASSERT_TRUE(await_rev("last_stream_rev", repo.rev()));
    EXPECT_TRUE(await_complete());
    EXPECT_EQ(epoch_of("proved"), epoch + (contiguous ? 1 : 0));
    host.serve(repo);
  }
}

} // namespace weir::tests
