#include "actors/identity/limits.hpp"
#include "actors/support/limits.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"
#include "tests/system/live_repo.hpp"

#include <list>

// Failing look-ups have a share of the budget and wait longer each time.

namespace weir::tests {

namespace {

class LookupSharesTest : public testing::Test {
protected:
  static constexpr size_t crowd = 100;
  static constexpr size_t per_second = 40;

  LookupSharesTest() {
    host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    for (size_t i = 0; i < crowd; ++i)
      failing.push_back(make(1'000 + i).did());
  }

  /// Makes an account of the host.
  live_repo& make(uint64_t seed) {
    auto& out = repos.emplace_back(seed);
    out.put("app.test.note/a", make_record("one"));
    out.commit();
    host.publish_and_serve(out);
    return out;
  }

  /// Sends an #identity for each of the crowd, whose documents do not exist any
  /// more.
  void lose_documents() {
    for (const auto& did : failing)
      host.on_document(did, say(http_answer(503, "{}")));
    for (const auto& did : failing)
      send_identity(did);
  }

  void send_identity(const atproto::did& did) {
    atproto::identity_event event;
    event.seq = ++seq;
    event.repo = did;
    const auto made = frame_time_of_now();
    event.time = made;
    ASSERT_TRUE(stream.send(atproto::encode_frame(event)));
  }

  inbox<std::chrono::steady_clock::time_point> asked;
  hostile_stream stream;
  hostile_host host;
  std::list<live_repo> repos;
  std::vector<atproto::did> failing;
  int64_t seq = 0;
};

} // namespace

// limits::retry_share: failing identities leave budget to a new account and to
// one that may have a new key.
TEST_F(LookupSharesTest, IdentitiesThatCannotBeHadLeaveTheBudgetToOthers) {
  auto& rotated = make(1);
  hostile_node node{
    {"relay:" + host.url()},
    host.url(),
    {"--mode", "manual", "--plc-per-second", std::to_string(per_second)}};
  node.add(failing);
  node.add({rotated.did()});
  ASSERT_TRUE(eventually(node_patience, [&] {
    return node.metric("weir_repos_synced ") == crowd + 1;
  }));
  lose_documents();
  const auto failures = [&node] {
    return node.metric("weir_identity_failures_total");
  };
  // Each has failed, and some again.
  ASSERT_TRUE(eventually(node_patience, [&] {
    return failures() >= crowd + 30;
  }));
  const auto before = failures();
  const auto start = std::chrono::steady_clock::now();
  auto& young = make(2);
  node.add({young.did()});
  send_identity(rotated.did());
  rotated.put("app.test.note/b", make_record("two"));
  auto commit = rotated.draft();
  commit.seq = ++seq;
  ASSERT_TRUE(stream.send(commit.encode(commit.sign(rotated.key()))));
  node.await(young.did(), "synced");
  EXPECT_TRUE(eventually(node_patience, [&] {
    return node.repo(rotated.did()).rev == rotated.rev().str();
  }));
  ASSERT_TRUE(eventually(node_patience, [&] {
    return failures() >= before + 20;
  }));
  const std::chrono::duration<double> took
    = std::chrono::steady_clock::now() - start;
  EXPECT_LE(static_cast<double>(failures() - before),
            limits::retry_share * per_second * (1 + took.count()));
}

// limits::lookup_pause_min: each failure doubles the pause of that identity.
TEST_F(LookupSharesTest, WhoseDocumentCannotBeHadIsAskedForLessAndLess) {
  auto& repo = make(1);
  hostile_node node{{"relay:" + host.url()}, host.url(), {"--mode", "manual"}};
  node.add({repo.did()});
  ASSERT_EQ(node.await(repo.did(), "synced").status, "synced");
  host.on_document(repo.did(), [this](raw_peer& peer, const std::string&) {
    asked.push(std::chrono::steady_clock::now());
    peer.send(http_answer(503, "{}"));
  });
  send_identity(repo.did());
  const auto first = asked.pop();
  const auto second = asked.pop();
  const auto third = asked.pop();
  ASSERT_TRUE(first && second && third);
  EXPECT_GE(*second - *first, limits::lookup_pause_min);
  EXPECT_GE(*third - *second, 2 * limits::lookup_pause_min);
}

} // namespace weir::tests
