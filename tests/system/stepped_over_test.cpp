#include "base/limits.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <gtest/gtest.h>

namespace weir::tests {

namespace {

constexpr const char* list_repos = "/xrpc/com.atproto.sync.listRepos";

/// One page with this repo as it is now.
hostile_host::script list(const test_repo& repo) {
  return say(http_answer(
    200, R"({"repos":[{"did":")" + repo.did().str() + R"(","head":")"
           + repo.data().to_text() + R"(","rev":")" + repo.rev().str()
           + R"(","active":true}]})"));
}

} // namespace

// protocol.md 1.6, 1.12; limits::bad_frame_tries_max: nobody knows whose a frame
// was that is none, so its host is listed at once, though the next audit is a
// day away, and the repo is fetched, though no event speaks of it.
TEST(SteppedOverTest, WhatAFrameThatIsNoneToldIsFoundByAListing) {
  hostile_stream stream;
  hostile_host host;
  test_repo repo{1};
  repo.put("app.test.note/a", make_record("one"));
  repo.commit();
  host.publish_and_serve(repo);
  host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  host.on(list_repos, list(repo));
  hostile_node node{{"pds:" + host.url()},
                    host.url(),
                    {"--listing-interval", "24h",
                     "--listing-requests-per-hour", "1"}};
  node.await(repo.did(), "synced");
  repo.put("app.test.note/b", make_record("two"));
  ASSERT_TRUE(stream.send(repo.commit()));
  ASSERT_TRUE(eventually(node_patience, [&] {
    return node.repo(repo.did()).rev == repo.rev().str();
  }));
  // One before its stream had a position, one at that.
  ASSERT_TRUE(node.await_metric("weir_listing_finished_total", 2));
  const auto listed = host.asked(list_repos);

  repo.put("app.test.note/lost", make_record("nobody could read it"));
  auto frame = repo.commit();
  frame.resize(frame.size() / 2);
  host.serve(repo);
  host.on(list_repos, list(repo));
  for (size_t i = 1; i < limits::bad_frame_tries_max; ++i) {
    ASSERT_TRUE(stream.send(frame));
    ASSERT_TRUE(stream.ends.pop()) << i;
  }
  ASSERT_TRUE(stream.send(frame));
  EXPECT_TRUE(eventually(node_patience,
                         [&] {
                           const auto told = node.repo(repo.did());
                           return told.rev == repo.rev().str()
                                  && told.status == "synced";
                         }))
    << node.log();
  EXPECT_GT(host.asked(list_repos), listed);
  EXPECT_NE(node.log().find("stepped over a bad frame"), std::string::npos);
}

} // namespace weir::tests
