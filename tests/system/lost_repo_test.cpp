#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <atomic>

// A host that does not know one of its repos for a moment, for example during a
// restore.

namespace weir::tests {

namespace {

constexpr auto question = "/xrpc/com.atproto.sync.getRepoStatus";

class LostRepoTest : public NetFixture {
protected:
  LostRepoTest() {
    repo.put("app.test.note/a", make_record("one"));
    repo.commit();
    host.publish_and_serve(repo);
    host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    host.on("/xrpc/com.atproto.sync.listRepos",
            [this](raw_peer& peer, const std::string&) {
              const auto line = R"({"did":")" + repo.did().str()
                                + R"(","rev":")" + repo.rev().str()
                                + R"(","active":true})";
              peer.send(http_answer(
                200, R"({"repos":[)" + (listed ? line : "") + "]}"));
            });
    host.on(question, [this](raw_peer& peer, const std::string&) {
      peer.send(questions++ == 0
                  ? http_answer(400, R"({"error":"RepoNotFound"})")
                  : http_answer(200, R"({"did":")" + repo.did().str()
                                       + R"(","active":true,"rev":")"
                                       + repo.rev().str() + R"("})"));
    });
  }

  live_repo repo{1};
  std::atomic<bool> listed{true};
  std::atomic<size_t> questions{0};
  hostile_stream stream;
  hostile_host host; ///< The upstream, directory and PDS.
};

} // namespace

// protocol-coverage.md 4.5: its listing leaves a repo out, and getRepoStatus
// answers RepoNotFound once.
TEST_F(LostRepoTest, OneAnswerThatARepoIsNotThereErasesNothing) {
  hostile_node node{{"pds:" + host.url()},
                    host.url(),
                    {"--gone-grace", "1s", "--listing-requests-per-hour",
                     "3600"}};
  ASSERT_EQ(node.await(repo.did(), "synced").records, 1u);
  const auto told = node.log_end();
  listed = false;
  EXPECT_TRUE(eventually(node_patience, [&] {
    return questions >= 2 && node.metric("weir_account_questions ") == 0;
  })) << questions << " questions";
  const auto now = node.repo(repo.did());
  EXPECT_EQ(now.status, "synced");
  EXPECT_EQ(now.records, 1u);
  EXPECT_EQ(node.log_end(), told) << "nobody was told of a deletion";
}

} // namespace weir::tests
