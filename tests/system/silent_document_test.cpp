#include "atproto/limits.hpp"
#include "base/limits.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"
#include "tests/system/live_repo.hpp"

#include <gtest/gtest.h>

#include <list>

namespace weir::tests {

namespace {

constexpr size_t crowd_accounts = 200;
constexpr size_t forged_bytes = 900'000;
constexpr size_t node_memory = 128 * megabyte;

/// A commit signed by another key.
bytes forge(live_repo repo, int64_t seq, const test_repo& stranger) {
  repo.put("app.test.note/forged", make_record(std::string(forged_bytes, 'x')));
  auto draft = repo.draft();
  draft.seq = seq;
  return draft.encode(draft.sign(stranger.key()));
}

/// A PDS with many accounts, another one that sends events about them without
/// being their host, a directory, and an honest account.
class SilentDocumentTest : public ::testing::Test {
protected:
  SilentDocumentTest() {
    for (auto* x : {&honest, &crowded, &foreign})
      x->host.on("/xrpc/com.atproto.sync.subscribeRepos", x->stream.script());
    repo.put("app.test.note/a", make_record("one"));
    repo.commit();
    honest.host.publish_and_serve(repo);
    for (size_t i = 0; i < crowd_accounts; ++i) {
      auto& x = crowd.emplace_back(100 + i);
      x.put("app.test.note/a", make_record("one"));
      x.commit();
      honest.host.publish(x, crowded.host.url());
      crowded.host.serve(x);
      dids.push_back(x.did());
    }
    node = std::make_unique<hostile_node>(
      std::vector<std::string>{"relay:" + honest.host.url(),
                               "pds:" + crowded.host.url(),
                               "pds:" + foreign.host.url()},
      honest.host.url(),
      std::vector<std::string>{"--memory-limit", std::to_string(node_memory),
                               "--sync-parallelism", "3"});
    node->add(dids);
    node->add({repo.did()});
    node->await(repo.did(), "synced");
    for (const auto& x : dids)
      node->await(x, "synced");
  }

  struct upstream {
    hostile_stream stream;
    hostile_host host;
  };

  void expect_taken(const upstream& from) {
    EXPECT_TRUE(node->await_metric("weir_upstream_cursor{upstream=\""
                                     + from.host.url() + "\"}",
                                   crowd_accounts));
  }

  uint64_t events(const std::string& result) {
    return node->metric("weir_repo_events_total{result=\"" + result + "\"}");
  }

  /// Expects that the honest account's events still flow.
  void expect_others_flow() {
    repo.put("app.test.note/later", make_record("two"));
    ASSERT_TRUE(honest.stream.send(repo.commit()));
    EXPECT_TRUE(eventually(node_patience, [&] {
      return node->repo(repo.did()).rev == repo.rev().str();
    }));
    EXPECT_LT(node->peak_bytes(), node_memory + memory_slack);
  }

  upstream honest; ///< Also the directory.
  upstream crowded;
  upstream foreign;
  live_repo repo{1};
  live_repo stranger{2};
  std::list<live_repo> crowd;
  std::vector<atproto::did> dids;
  std::unique_ptr<hostile_node> node;
};

} // namespace

// protocol-coverage.md 2.5.6: while no document can be had, a bad signature
// proves nothing. The frames that are kept until then are limited, because the
// server that does not answer decides how long.
// limits::document_wait_memory_part
TEST_F(SilentDocumentTest, WhatWaitsForThemKeepsNobodyFromReading) {
  for (const auto& x : dids)
    honest.host.on_document(x, say(""));
  int64_t seq = 0;
  for (const auto& x : crowd)
    ASSERT_TRUE(crowded.stream.send(forge(x, ++seq, stranger)));
  expect_taken(crowded);
  EXPECT_GE(events("buffer_overflow"), crowd_accounts - 10);
  expect_others_flow();
}

// A PDS speaks for its own accounts only. Its events about others are kept as a
// state only and wait in that form. limits::notice_frame_bytes_max
TEST_F(SilentDocumentTest, LongWordsOnAccountsOfOtherHostsCostNoMemory) {
  atproto::account_event event;
  const auto made = frame_time_of_now();
  event.time = made;
  for (const auto& x : dids) {
    ++event.seq;
    event.repo = x;
    // A gigabyte in all, and at the end some of the maximum length.
    const auto size = event.seq <= 180 ? limits::frame_bytes_max
                                       : limits::notice_frame_bytes_max;
    const std::string status(size - 200, 'x');
    event.status = status;
    ASSERT_TRUE(foreign.stream.send(atproto::encode_frame(event)));
  }
  expect_taken(foreign);
  EXPECT_EQ(events("bad_shape"), 180u);
  for (const auto& x : dids)
    EXPECT_EQ(node->repo(x).status, "synced");
  expect_others_flow();
}

} // namespace weir::tests
