#include "actors/upstream/limits.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <gtest/gtest.h>

#include <array>

namespace weir::tests {

namespace {

constexpr const char* listing_of_host = "/xrpc/com.atproto.sync.listRepos";

bytes commit_as(live_repo& x, int64_t seq) {
  auto draft = x.draft();
  draft.seq = seq;
  return draft.encode(draft.sign(x.key()));
}

/// A PDS of two accounts, and a node that follows it and whose next audit is a
/// day away.
class SteppedOverTest : public ::testing::Test {
protected:
  SteppedOverTest() {
    for (auto& x : repos) {
      x.put("app.test.note/a", make_record("one"));
      x.commit();
      host.publish_and_serve(x);
    }
    host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    list();
    node = std::make_unique<hostile_node>(
      std::vector{"pds:" + host.url()}, host.url(),
      std::vector<std::string>{"--listing-interval", "24h",
                               "--listing-requests-per-hour", "1"});
    for (auto& x : repos)
      node->await(x.did(), "synced");
    writer().put("app.test.note/b", make_record("two"));
    EXPECT_TRUE(stream.send(writer().commit()));
    EXPECT_TRUE(comes(writer()));
    // The start of the stream is its position, so one listing is enough.
    EXPECT_TRUE(node->await_metric("weir_listing_finished_total", 1));
    listed = host.asked(listing_of_host);
  }

  live_repo& writer() { return repos[0]; }

  /// Makes the host list the accounts in their present state on one page.
  void list() {
    std::string lines;
    for (const auto& x : repos) {
      host.serve(x);
      lines += (lines.empty() ? R"({"did":")" : R"(,{"did":")")
               + x.did().str() + R"(","head":")" + x.data().to_text()
               + R"(","rev":")" + x.rev().str() + R"(","active":true})";
    }
    host.on(listing_of_host,
            say(http_answer(200, R"({"repos":[)" + lines + "]}")));
  }

  bool comes(const test_repo& x) {
    return eventually(node_patience, [&] {
      const auto told = node->repo(x.did());
      return told.rev == x.rev().str() && told.status == "synced";
    });
  }

  hostile_stream stream;
  hostile_host host;
  std::array<live_repo, 2> repos{live_repo{1}, live_repo{2}};
  std::unique_ptr<hostile_node> node;
  size_t listed = 0;
};

} // namespace

// protocol-coverage.md 1.6, 1.12; limits::bad_frame_tries_max: a malformed
// frame does not show its repo, so its host is listed at once, and the repo is
// fetched, although no event names it.
TEST_F(SteppedOverTest, WhatAFrameThatIsNoneToldIsFoundByAListing) {
  writer().put("app.test.note/lost", make_record("nobody could read it"));
  auto frame = writer().commit();
  frame.resize(frame.size() / 2);
  list();
  for (size_t i = 1; i < limits::bad_frame_tries_max; ++i) {
    ASSERT_TRUE(stream.send(frame));
    ASSERT_TRUE(stream.ends.pop()) << i;
  }
  ASSERT_TRUE(stream.send(frame));
  EXPECT_TRUE(comes(writer())) << node->log();
  EXPECT_GT(host.asked(listing_of_host), listed);
  EXPECT_NE(node->log().find("skipped a bad frame"), std::string::npos);
}

// protocol-coverage.md 1.8: a host swaps the order of two events
TEST_F(SteppedOverTest, WhatAFrameToldThatCameTooLateIsFoundByAListing) {
  auto& late = repos[1];
  late.put("app.test.note/late", make_record("came behind a later one"));
  const auto frame = commit_as(late, 50);
  writer().put("app.test.note/c", make_record("three"));
  const auto later = commit_as(writer(), 51);
  list();
  ASSERT_TRUE(stream.send(later));
  ASSERT_TRUE(stream.send(frame));
  EXPECT_TRUE(comes(late)) << node->log();
  EXPECT_GT(host.asked(listing_of_host), listed);
}

} // namespace weir::tests
