#include "tests/system/consistency_node.hpp"

#include <future>

// The consistency model on a running node, event by event.

namespace weir::tests {

// CONS-02, CONS-07, CONS-08, CONS-09, CONS-19, CONS-20, CONS-22: the first and
// the last event since a reset are stored
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

// CONS-21: nothing older than such a commit is accepted
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

// CONS-13, CONS-29, CONS-30: after a reset only its host can tell the state of
// a quiet repo, and is asked for its rev
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
  // The answer has no rev, so the last commit is asked for.
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

// The same when a host never gives a rev: that costs exactly one fetch.
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

// CONS-24, CONS-25, CONS-30
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

// CONS-04: only the state on disk survives a restart
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

// CONS-16: by default a gap in the seqs has no effect, protocol-coverage.md 1
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
