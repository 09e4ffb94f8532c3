#include "tests/support/temp_dir.hpp"
#include "tests/system/default_node.hpp"
#include "tests/system/live_repo.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <future>
#include <numeric>

// Accounts that are not tracked and that the stream of a PDS names.
namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using simnet::hostility;

constexpr size_t honest_accounts = 20;
constexpr size_t fictive_host = 1;
constexpr size_t newcomers = 10;
/// Number of invented names that a stream has sent when others come.
constexpr uint64_t inventions = 1'000;
constexpr const char* subscribe = "/xrpc/com.atproto.sync.subscribeRepos";

simnet::network_options beside_fiction() {
  simnet::network_options out;
  out.population.accounts = honest_accounts;
  out.population.records = honest_accounts * 10;
  out.population.hosts = 1;
  out.hostile = {{hostility::fictive, 1}};
  out.relay = false;
  return out;
}

} // namespace

// A PDS names accounts that do not exist, as fast as they are read. They get no
// rows. A new account of another host is tracked by its first events, not by a
// listing.
TEST(NewcomersTest, InventedNamesOfAStreamAreNoReposAndKeepNobodyWaiting) {
  simnet::network network{beside_fiction()};
  const auto urls = network.start(2).value();
  std::vector<size_t> honest(honest_accounts);
  std::iota(honest.begin(), honest.end(), 0);
  const temp_dir dir;
  default_node node{dir.at("data"), urls, {0, fictive_host},
                    {"--listing-requests-per-hour", "1"}};
  const auto all_synced = [&] {
    return node.synced(network.truth(), honest) == honest.size();
  };
  ASSERT_TRUE(eventually(node_patience, all_synced));
  ASSERT_TRUE(eventually(node_patience, [&] {
    return network.hostile().of(fictive_host).frames > inventions;
  }));
  const auto listings = node.metric("weir_listing_finished_total");
  const auto confirmed = R"(weir_stream_claims_total{result="confirmed"})";
  const auto before = node.metric(confirmed);
  for (size_t i = 0; i < newcomers; ++i)
    honest.push_back(network.truth().add_account());
  EXPECT_TRUE(eventually(node_patience / 2, all_synced))
    << node.metric("weir_repos_tracked");
  EXPECT_EQ(node.metric(confirmed), before + newcomers)
    << node.metric("weir_listing_finished_total") - listings << " listings";
  EXPECT_TRUE(eventually(node_patience, [&] {
    return node.metric("weir_stream_mistrusted_total") > 0;
  }));
  EXPECT_LE(node.metric("weir_repos_tracked"), honest.size() + 1);
  node.stop();
}

// SYNC-19: an account counts as tracked when its row is on disk, not when a
// frame of a relay requested that. The REPO that was asked first dies, and its
// frames come again.
TEST(NewcomersTest, ARepoThatDiesBeforeItsRowIsWrittenIsTrackedAllTheSame) {
  followed_network net{17, 6, 100};
  const temp_dir dir;
  const auto web = apps::web_client::make();
  program node{net.arguments(dir.at("data"), {"--listing-interval", "30d",
                                              "--listing-grace", "1h"}),
               {"WEIR_THROW_AT=frame.taken:1"}};
  const auto at = parse_ready(node.read_line(node_patience).value_or(""));
  ASSERT_NE(at.data, "") << tail_of(node.errors());
  const auto all_synced = [&] {
    return eventually(node_patience, [&] {
      return status_of(*web, at).synced == net.life().truth().accounts();
    });
  };
  ASSERT_TRUE(all_synced()) << tail_of(node.errors());
  // The frames of this account are the first ones.
  net.life().truth().add_account();
  EXPECT_TRUE(all_synced()) << tail_of(node.errors());
  EXPECT_NE(node.errors().find("repo_died"), std::string::npos);
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0) << tail_of(node.errors());
}

namespace {

/// A PDS that the test controls and that is also the directory. It lists no
/// accounts, so only its stream tells of its account.
class NewcomerTest : public testing::Test {
protected:
  NewcomerTest() {
    host.on(subscribe, stream.script());
    repo.put("app.test.note/a", make_record("one"));
    repo.commit();
  }

  void expect_finished(hostile_node& node, uint64_t seq) {
    EXPECT_TRUE(node.await_metric("weir_upstream_cursor{upstream=\""
                                    + host.url() + "\"}",
                                  seq));
  }

  bytes identity_frame_of(int64_t seq) {
    atproto::identity_event event;
    event.repo = repo.did();
    const auto made = frame_time_of_now();
    event.time = made;
    event.seq = seq;
    return atproto::encode_frame(event);
  }

  std::string document_with(const test_repo& key, const std::string& pds) {
    return make_document(repo.did().str(),
                         key.key().public_part().to_multikey(), pds);
  }

  size_t fetches() {
    return host.asked("/xrpc/com.atproto.sync.getRepo");
  }

  hostile_stream stream;
  hostile_host host;
  live_repo repo{1};
};

} // namespace

// protocol-coverage.md 4: the answer that the claim waits for was given before
// the #identity, whose frame is finished by then.
TEST_F(NewcomerTest, AnIdentityThatChangesDuringTheClaimIsLookedUpAnew) {
  const live_repo former{2};
  std::promise<void> asked;
  std::promise<void> answer;
  auto released = answer.get_future().share();
  std::atomic<bool> is_first{true};
  host.serve(repo);
  host.on_document(repo.did(), [&](raw_peer& peer, const std::string&) {
    const auto is_old = is_first.exchange(false);
    if (is_old) {
      asked.set_value();
      released.wait();
    }
    peer.send(http_answer(
      200, document_with(is_old ? former : repo, host.url())));
  });
  hostile_node node{{"pds:" + host.url()}, host.url()};
  ASSERT_TRUE(stream.send(repo.sync_frame(1)));
  asked.get_future().wait();
  ASSERT_TRUE(stream.send(identity_frame_of(2)));
  expect_finished(node, 2);
  EXPECT_EQ(node.repo(repo.did()).status, "") << "it is a claim only";
  answer.set_value();
  EXPECT_EQ(node.await(repo.did(), "synced").rev, repo.rev().str());
  EXPECT_EQ(fetches(), 1u) << "not by the key that was";
}

// protocol-coverage.md 2.5.6: the document that is known names its former host.
TEST_F(NewcomerTest, AnAccountThatMovedInIsFoundAlthoughItsOldDocumentIsKnown) {
  hostile_host former;
  host.serve(repo);
  host.publish(repo, former.url());
  hostile_node node{{"pds:" + host.url()}, host.url()};
  ASSERT_TRUE(stream.send(repo.sync_frame(1)));
  ASSERT_TRUE(node.await_metric(
    R"(weir_stream_claims_total{result="failed"})", 1));
  host.publish(repo, host.url());
  ASSERT_TRUE(stream.send(identity_frame_of(2)));
  EXPECT_EQ(node.await(repo.did(), "synced").rev, repo.rev().str());
}

// A fetch that is older than the event that caused it has not succeeded.
TEST_F(NewcomerTest, TheFetchBringsWhatTheFirstEventTold) {
  host.publish(repo, host.url());
  const auto old = repo.export_car();
  repo.put("app.test.note/b", make_record("two"));
  const auto frame = repo.commit();
  const auto fresh = repo.export_car();
  std::atomic<size_t> times{0};
  host.on_repo(repo.did(), [&](raw_peer& peer, const std::string&) {
    peer.send(http_answer(200, as_text(times++ == 0 ? old : fresh)));
  });
  hostile_node node{{"pds:" + host.url()}, host.url()};
  ASSERT_TRUE(stream.send(frame));
  EXPECT_EQ(node.await(repo.did(), "synced").rev, repo.rev().str());
  EXPECT_EQ(times, 2u);
}

} // namespace weir::tests
