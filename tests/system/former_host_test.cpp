#include "tests/system/hostile_host.hpp"
#include "tests/system/live_repo.hpp"
#include "tests/system/hostile_node.hpp"

// An account moves while the directory is down (protocol-coverage.md 2.1.2,
// 4.1). The test decides which host sends first.

namespace weir::tests {

namespace {

class FormerHostTest : public testing::Test {
protected:
  struct upstream {
    upstream() {
      host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    }

    hostile_stream stream;
    hostile_host host;
    int64_t seq = 0;
  };

  FormerHostTest() {
    repo.put("app.test.note/a", make_record("one"));
    repo.commit();
    directory.publish(repo, former.host.url());
    former.host.serve(repo);
  }

  template <class Event>
  void send(upstream& from, Event x) {
    x.seq = ++from.seq;
    x.repo = repo.did();
    const auto made = frame_time_of_now();
    x.time = made;
    ASSERT_TRUE(from.stream.send(atproto::encode_frame(x)));
  }

  void send_commit(upstream& from) {
    repo.put("app.test.note/b", make_record("two"));
    auto x = repo.draft();
    x.seq = ++from.seq;
    ASSERT_TRUE(from.stream.send(x.encode(x.sign(repo.key()))));
  }

  void await_taken(const upstream& by) {
    ASSERT_TRUE(node.await_metric("weir_upstream_cursor{upstream=\""
                                    + by.host.url() + "\"}",
                                  static_cast<uint64_t>(by.seq)));
  }

  live_repo repo{1};
  hostile_host directory;
  upstream former;
  upstream present;
  hostile_node node{{"pds:" + former.host.url(), "pds:" + present.host.url()},
                    directory.url(),
                    {"--mode", "manual"}};
};

} // namespace

// protocol-coverage.md 2.1.2, 2.5.6: while a look-up has failed, no host's
// statement is accepted.
TEST_F(FormerHostTest, ItsWordIsNotBelievedWhileNoDocumentIsThere) {
  node.add({repo.did()});
  ASSERT_EQ(node.await(repo.did(), "synced").status, "synced");
  directory.on_document(repo.did(), say(http_answer(503, "{}")));
  send(present, atproto::identity_event{});
  ASSERT_TRUE(node.await_metric("weir_identity_failures_total", 1));
  atproto::account_event gone;
  gone.status = "deactivated";
  send(former, gone);
  await_taken(former);
  send_commit(present);
  await_taken(present);
  present.host.serve(repo);
  directory.publish(repo, present.host.url());
  EXPECT_TRUE(eventually(node_patience, [this] {
    return node.repo(repo.did()).rev == repo.rev().str();
  }));
  EXPECT_EQ(node.repo(repo.did()).status, "synced");
  EXPECT_EQ(node.metric(R"(weir_repo_events_total{result="account_changed"})"),
            0u);
}

} // namespace weir::tests
