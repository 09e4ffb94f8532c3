#include "atproto/dag_cbor.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <atomic>

// Of several upstreams that could report a repo, only one is alive or has
// listings. Its reports count, whatever the order in the configuration.

namespace weir::tests {

namespace {

class SecondRelayTest : public testing::Test {
protected:
  static constexpr auto list_repos = "/xrpc/com.atproto.sync.listRepos";
  static constexpr auto repo_status = "/xrpc/com.atproto.sync.getRepoStatus";
  static constexpr auto subscribe = "/xrpc/com.atproto.sync.subscribeRepos";

  /// No server listens there.
  static constexpr auto dead_url = "http://127.0.0.1:9";

  SecondRelayTest() {
    relay.on(subscribe, stream.script());
    relay.on(list_repos, [this](raw_peer& peer, const std::string&) {
      peer.send(
        http_answer(200, R"({"repos":[)" + (lists ? line : "") + "]}"));
    });
    host.on(repo_status, [this](raw_peer& peer, const std::string&) {
      peer.send(lists ? http_answer(200, R"({"did":")" + repo.did().str()
                                           + R"(","active":true})")
                      : http_answer(400, R"({"error":"RepoNotFound"})"));
    });
    repo.put("app.test.note/a", make_record("one"));
    repo.commit();
    line = R"({"did":")" + repo.did().str() + R"(","head":")"
           + repo.data().to_text() + R"(","rev":")" + repo.rev().str()
           + R"(","active":true})";
    host.publish_and_serve(repo);
  }

  /// Follows `first` and then the relay, until the repo is synced.
  void start(const std::string& first) {
    node = std::make_unique<hostile_node>(
      std::vector{first, "relay:" + relay.url()}, host.url(),
      std::vector<std::string>{"--mode", "manual", "--gone-grace", "1s",
                               "--listing-requests-per-hour", "3600"});
    node->add({repo.did()});
    ASSERT_EQ(node->await(repo.did(), "synced").status, "synced");
  }

  /// The account is deleted without an event, and the relay stops listing it.
  void expect_deletion_found() {
    ASSERT_EQ(node->repo(repo.did()).records, 1u);
    const auto before = relay.asked(list_repos);
    lists = false;
    EXPECT_TRUE(eventually(node_patience, [&] {
      return node->repo(repo.did()).records == 0;
    })) << "listings since: "
        << relay.asked(list_repos) - before
        << ", questions: " << host.asked(repo_status);
    EXPECT_EQ(host.asked(repo_status), 2u) << "it is believed the second time";
  }

  std::atomic<bool> lists = true; ///< The relay and its host list the repo.
  hostile_stream stream;
  live_repo repo{1};
  std::string line;  ///< The repo's line in a listing, in its first state.
  hostile_host host; ///< The repo's PDS, and the directory.
  hostile_host relay;
  std::unique_ptr<hostile_node> node;
};

} // namespace

// protocol-coverage.md 4.5: an account that a listing leaves out is asked about
TEST_F(SecondRelayTest, ItsListingCountsWhileTheFirstRelayIsDead) {
  start(std::string{"relay:"} + dead_url);
  expect_deletion_found();
}

// protocol-coverage.md 4.5: the first relay has a stream, and answers 404 to
// listings
TEST_F(SecondRelayTest, ItsListingCountsWhenTheFirstRelayHasNone) {
  hostile_stream silent;
  hostile_host first;
  first.on(subscribe, silent.script());
  start("relay:" + first.url());
  expect_deletion_found();
}

// protocol-coverage.md 4.5: the PDS is followed, answers questions, and refuses
// its stream.
TEST_F(SecondRelayTest, ItsListingCountsWhileTheHostRefusesItsStream) {
  start("pds:" + host.url());
  expect_deletion_found();
}

// CONS-11; completeness.md, Acting: a gap leads to a fetch. No listing shows
// it.
TEST_F(SecondRelayTest, WhatItSendsAndNobodyCanReadIsFetched) {
  relay.on(list_repos, say(http_answer(404, "{}")));
  for (const auto& first : {"relay:" + std::string{dead_url},
                            "pds:" + host.url()}) {
    start(first);
    repo.put("app.test.note/" + std::to_string(first.size()),
             make_record("more"));
    repo.commit();
    host.serve(repo);
    atproto::cbor::writer x;
    x.begin_map(2).put_text("t").put_text("#commit").put_text("op").put_int(1);
    x.begin_map(3).put_text("rev").put_text(repo.rev().str());
    x.put_text("seq").put_int(1).put_text("repo").put_text(repo.did().str());
    ASSERT_TRUE(stream.send(x.take()));
    EXPECT_TRUE(eventually(node_patience, [&] {
      return node->repo(repo.did()).rev == repo.rev().str();
    })) << first;
    node.reset();
  }
}

} // namespace weir::tests
