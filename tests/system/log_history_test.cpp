#include "tests/system/hostile_host.hpp"
#include "tests/system/live_repo.hpp"
#include "tests/system/log_reading.hpp"
#include "tests/system/store_left.hpp"

#include <gtest/gtest.h>

#include <memory>

// Records as they are and as they were, on a running node: docs/api.md, `GET
// /v1/repos/:did/records` and the route after it.

namespace weir::tests {

namespace {

/// A host with one account that writes what a test wants, and a node.
class LogHistoryTest : public testing::Test {
protected:
  LogHistoryTest() {
    host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  }

  void follow(std::vector<std::string> options = {}) {
    host.publish_and_serve(repo);
    node = std::make_unique<hostile_node>(std::vector{"relay:" + host.url()},
                                          host.url(), std::move(options));
    added_ms = static_cast<uint64_t>(system_clock().wall_now().micros / 1000);
    node->add({repo.did()});
    ASSERT_EQ(node->await(repo.did(), "synced").status, "synced");
  }

  /// Sends what the account wrote; returns its rev.
  std::string commit() {
    const auto frame = repo.commit();
    EXPECT_TRUE(stream.send(frame));
    host.serve(repo);
    const auto rev = repo.rev().str();
    EXPECT_TRUE(eventually(node_patience, [&] {
      return node->repo(repo.did()).rev == rev;
    })) << node->log();
    return rev;
  }

  void send_account(bool active, const std::string& status) {
    atproto::account_event event;
    event.seq = 100 + ++sent_;
    event.repo = repo.did();
    const auto made = frame_time_of_now();
    event.time = made;
    event.active = active;
    event.status = status;
    ASSERT_TRUE(stream.send(atproto::encode_frame(event)));
  }

  std::string base() const { return "/v1/repos/" + repo.did().str(); }

  told_json record(const std::string& rkey, const std::string& at = {}) {
    return ask_data(*node, base() + "/records/app.test.note/" + rkey
                        + (at.empty() ? "" : "?at=" + at));
  }

  /// The text of the record, or the name of the error.
  std::string note(const std::string& rkey, const std::string& at = {}) {
    const auto x = record(rkey, at);
    if (x.status != 200)
      return std::to_string(x.status) + ' ' + x.text("error");
    return text_in(x.body.at("record"), "text");
  }

  hostile_stream stream;
  hostile_host host;
  live_repo repo;
  std::unique_ptr<hostile_node> node;
  uint64_t added_ms = 0; ///< When the repo began to be followed.

private:
  int64_t sent_ = 0;
};

} // namespace

// docs/api.md: a version of a record as of a rev
TEST_F(LogHistoryTest, ARecordIsReadAsItWasBeforeAndAfterEachChange) {
  repo.put("app.test.note/a", make_record("one"));
  repo.put("app.test.note/other", make_record("other"));
  repo.commit();
  const auto fetched = repo.rev().str();
  follow();
  repo.put("app.test.note/b", make_record("two"));
  const auto created = commit();
  repo.put("app.test.note/a", make_record("three"));
  const auto updated = commit();
  repo.remove("app.test.note/a");
  const auto removed = commit();
  repo.put("app.test.note/a", make_record("four"));
  const auto again = commit();
  EXPECT_EQ(note("a"), "four");
  EXPECT_EQ(note("a", again), "four");
  EXPECT_EQ(note("a", removed), "404 RecordNotFound");
  EXPECT_NE(record("a", removed).text("message").find("deleted at " + removed),
            std::string::npos);
  EXPECT_EQ(note("a", updated), "three");
  EXPECT_EQ(note("a", created), "one");
  EXPECT_EQ(note("a", fetched), "one");
  EXPECT_EQ(note("b", created), "two");
  EXPECT_EQ(note("b", fetched), "404 RecordNotFound");
  const auto early
    = atproto::tid{atproto::tid::parse(fetched)->value() - 1}.str();
  EXPECT_EQ(note("a", early), "404 HistoryUnknown");
  EXPECT_NE(record("a", early).text("message").find(fetched),
            std::string::npos);
  EXPECT_EQ(note("never"), "404 RecordNotFound");
  EXPECT_EQ(note("never", again), "404 RecordNotFound");
  EXPECT_EQ(note("a", "norev"), "400 InvalidRequest");
  EXPECT_EQ(ask_data(*node, base() + "/records/app/a").status, 400);
  const auto at = record("a", updated);
  EXPECT_EQ(at.text("as_of"), updated);
  EXPECT_EQ(at.text("rev"), updated);
  const auto page = ask_data(*node, base() + "/records");
  EXPECT_EQ(page.text("rev"), again);
  EXPECT_EQ(page.list("records").size(), 3u);
  // OPLOG-23: what a commit wrote names the commit, and not what a fetch wrote.
  const auto log = read_log(*node, 10, "&collection=app.test.note");
  ASSERT_EQ(log.size(), 6u);
  EXPECT_EQ(text_in(log[0], "provenance"), "resync");
  EXPECT_EQ(text_in(log[2], "provenance"), "live");
  const auto commits = read_log(*node, 10, "&collection=$commit");
  EXPECT_EQ(text_in(log[2], "job"), text_in(commits[1], "cid"));
  // OPLOG-26: the fetched revs are older than the node.
  EXPECT_LT(number_in(log[0], "time_ms"), added_ms);
  EXPECT_GE(number_in(log[0], "written_ms"), added_ms);
  EXPECT_GE(number_in(log[5], "written_ms"), number_in(log[0], "written_ms"));
}

// docs/storage-format.md 3.4: nothing but the chain knows of these commits,
// also after the node was killed.
TEST_F(LogHistoryTest, ACommitOfWhichNothingIsKeptHasNoOperation) {
  constexpr uint64_t unwanted = 40;
  repo.put("app.test.note/a", make_record("one"));
  repo.commit();
  follow({"--collections", "app.test.note"});
  const auto end = node->log_end();
  for (uint64_t i = 0; i < unwanted; ++i) {
    if (i == unwanted / 2) {
      node->kill([] {});
      ASSERT_TRUE(node->await_metric("weir_upstream_connected", 1));
    }
    repo.put("app.test.like/" + std::to_string(i), make_record("like"));
    commit();
  }
  const auto passed = repo.rev().str();
  EXPECT_EQ(node->log_end(), end);
  EXPECT_EQ(note("a", passed), "one");
  EXPECT_EQ(record("a", passed).text("as_of"), passed);
  repo.put("app.test.note/b", make_record("two"));
  commit();
  EXPECT_EQ(node->log_end(), end + 2) << "the record and its commit";
  const auto commits = read_log(*node, 10, "&collection=$commit");
  ASSERT_EQ(commits.size(), 2u);
  EXPECT_FALSE(commits[0].contains("passed"));
  EXPECT_EQ(number_in(commits[1], "passed"), unwanted);
  node->restart([&] {
    EXPECT_EQ(store_left::read(node->data_dir()).findings, "");
  });
}

// What a fetch skipped is not known, so it is not claimed.
TEST_F(LogHistoryTest, BetweenACommitAndALaterFetchTheHistoryIsUnknown) {
  repo.put("app.test.note/a", make_record("one"));
  repo.commit();
  const auto fetched = repo.rev().str();
  follow();
  repo.put("app.test.note/a", make_record("missed"));
  repo.commit(); // It is not sent.
  const auto missed = repo.rev().str();
  repo.put("app.test.note/a", make_record("three"));
  repo.commit();
  const auto later = repo.rev().str();
  host.serve(repo);
  ASSERT_TRUE(stream.send(repo.sync_frame(50)));
  EXPECT_TRUE(eventually(node_patience, [&] {
    const auto page = ask_data(*node, base() + "/records");
    return page.text("rev") == later && page.text("status") == "synced";
  })) << node->log();
  EXPECT_EQ(note("a", fetched), "one");
  EXPECT_EQ(note("a", missed), "404 HistoryUnknown");
  EXPECT_EQ(note("a", later), "three");
}

// docs/api.md: nothing of an account that is away; SYNC-30 for one that is gone
TEST_F(LogHistoryTest, OfAnAccountThatIsAwayOrGoneNoRecordIsAnswered) {
  repo.put("app.test.note/a", make_record("one"));
  repo.commit();
  const auto rev = repo.rev().str();
  follow();
  EXPECT_EQ(note("a"), "one");
  send_account(false, "takendown");
  ASSERT_TRUE(eventually(node_patience, [&] {
    return note("a") == "404 RepoInactive";
  })) << node->log();
  EXPECT_EQ(note("a", rev), "404 RepoInactive");
  const auto page = ask_data(*node, base() + "/records");
  EXPECT_EQ(page.status, 404);
  EXPECT_NE(page.text("message").find("takendown"), std::string::npos);
  const auto log = read_log(*node, 10, "&collection=app.test.note");
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(text_in(log[0], "content"), "hidden");
  EXPECT_FALSE(log[0].contains("record"));
  node->remove({repo.did()});
  ASSERT_TRUE(eventually(node_patience, [&] {
    return node->repo(repo.did()).status.empty();
  }));
  EXPECT_EQ(note("a"), "404 RepoNotFound");
  EXPECT_EQ(note("a", rev), "404 RepoNotFound");
  const auto stream_of_it = base() + "/ops?collection=app.test.note";
  EXPECT_EQ(ask_data(*node, stream_of_it).status, 404);
  EXPECT_TRUE(read_log(*node, 10).empty());
  EXPECT_TRUE(node->await_metric("weir_repos_erased_total", 1));
  EXPECT_TRUE(read_log(*node, 10).empty());
}

} // namespace weir::tests
