#include "actors/supervisor/limits_accounts.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <gtest/gtest.h>

#include <atomic>

// What a node knows of its former life, which was killed (architecture.md I4).

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

constexpr auto questions = "/xrpc/com.atproto.sync.getRepoStatus";
constexpr auto not_found = R"({"error":"RepoNotFound"})";

class KilledNodeTest : public NetFixture {
protected:
  KilledNodeTest() {
    host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    write();
    host.publish_and_serve(repo);
  }

  bytes write() {
    repo.put("app.test.note/" + std::to_string(++written_),
             make_record("text"));
    return repo.commit();
  }

  /// Skips one event of the repo; the next one shows that.
  void miss_one() {
    write();
    ASSERT_TRUE(stream.send(write()));
  }

  hostile_stream stream;
  hostile_host host; ///< The directory, relay and PDS.
  live_repo repo{1};

private:
  int written_ = 0;
};

} // namespace

// protocol-coverage.md 5.3: the host's downloads are older than its stream
TEST_F(KilledNodeTest, AFetchHasToBringWhatAnEarlierLifeHeardOf) {
  hostile_node node{{"relay:" + host.url()}, host.url()};
  node.add({repo.did()});
  node.await(repo.did(), "synced");
  ASSERT_NO_FATAL_FAILURE(miss_one());
  auto now = node.await_failure(repo.did());
  node.kill([] {});
  const auto tries = now.tries;
  EXPECT_TRUE(eventually(node_patience, [&] {
    now = node.repo(repo.did());
    return now.tries > tries || now.status == "synced";
  }));
  EXPECT_NE(now.status, "synced") << "at " << now.rev;
  host.serve(repo);
  EXPECT_EQ(node.await(repo.did(), "synced").rev, repo.rev().str());
}

// protocol-coverage.md 4.5: a crash between the first and the second
// RepoNotFound. The next regular fetch would come in a week.
TEST_F(KilledNodeTest, TheSecondQuestionComesInItsTime) {
  constexpr auto grace = 8s;
  std::atomic<std::chrono::steady_clock::time_point> asked{};
  host.on(questions, [&asked](raw_peer& peer, const std::string&) {
    asked = std::chrono::steady_clock::now();
    peer.send(http_answer(400, not_found));
  });
  hostile_node node{{"relay:" + host.url()},
                    host.url(),
                    {"--gone-grace", "8s", "--retry-backoff-min", "168h",
                     "--retry-backoff-max", "168h"}};
  node.add({repo.did()});
  EXPECT_EQ(node.await(repo.did(), "synced").records, 1u);
  host.on_repo(repo.did(), say(http_answer(400, not_found)));
  ASSERT_NO_FATAL_FAILURE(miss_one());
  node.await_failure(repo.did());
  EXPECT_EQ(host.asked(questions), 0u);
  std::chrono::steady_clock::time_point start;
  node.kill([&start] {
    start = std::chrono::steady_clock::now();
  });
  EXPECT_TRUE(eventually(node_patience, [&] {
    return node.repo(repo.did()).records == 0;
  }));
  EXPECT_EQ(host.asked(questions), 1u) << "a download was the first";
  EXPECT_GE(asked.load() - start, grace / limits::gone_grace_part);
}

} // namespace weir::tests
