#include "actors/supervisor/limits_claims.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <list>

// A directory that answers at once with wrong answers.
namespace weir::tests {

namespace {

/// A PDS with a listing, and a directory that the test controls.
class WrongDirectoryTest : public ::testing::Test {
protected:
  /// While it is wrong, the directory gives this answer instead of a document.
  /// @param listings Number of listings an hour.
  void open(size_t accounts, std::string wrong, int listings = 3600) {
    std::string lines;
    for (size_t i = 0; i < accounts; ++i) {
      auto& x = repos.emplace_back(1 + i);
      x.put("app.test.note/a", make_record("one"));
      x.commit();
      host.serve(x);
      const auto document = make_document(
        x.did().str(), x.key().public_part().to_multikey(), host.url());
      directory.on_document(
        x.did(), [this, right = http_answer(200, document), wrong](
                   raw_peer& peer, const std::string&) {
          peer.send(is_right ? right : wrong);
        });
      lines += (i == 0 ? R"({"did":")" : R"(,{"did":")") + x.did().str()
               + R"(","head":")" + x.data().to_text() + R"(","rev":")"
               + x.rev().str() + R"(","active":true})";
    }
    host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    host.on("/xrpc/com.atproto.sync.listRepos",
            say(http_answer(200, R"({"repos":[)" + lines + "]}")));
    node = std::make_unique<hostile_node>(
      std::vector{"pds:" + host.url()}, directory.url(),
      std::vector{std::string{"--listing-requests-per-hour"},
                  std::to_string(listings)});
  }

  void expect_all_synced() {
    for (const auto& x : repos)
      EXPECT_EQ(node->await(x.did(), "synced").records, 1u) << node->log();
  }

  std::atomic<bool> is_right = false;
  std::list<live_repo> repos;
  hostile_stream stream;
  hostile_host host;
  hostile_host directory;
  std::unique_ptr<hostile_node> node;
};

} // namespace

// Once, honest hosts were mistrusted for minutes, longer each time, and
// accounts that the directory had not found stayed so for five more.
TEST_F(WrongDirectoryTest, OneThatHasNoDocumentsIsNoFaultOfAListing) {
  open(limits::claims_judged_min + 10,
       http_answer(404, R"({"message":"DID not registered"})"));
  ASSERT_TRUE(node->await_metric("weir_listing_mistrusted_total", 1));
  EXPECT_NE(node->log().find("the directory has no document of most accounts"),
            std::string::npos);
  is_right = true;
  expect_all_synced();
}

// protocol-coverage.md 8.3; `limits::claim_retry`: the next listing is an hour
// away.
TEST_F(WrongDirectoryTest, WhatItDidNotHaveForAMomentIsThereSoon) {
  open(1, http_answer(404, R"({"message":"DID not registered"})"), 1);
  ASSERT_TRUE(eventually(node_patience, [&] {
    return directory.asked("/" + repos.front().did().str()) > 0;
  }));
  is_right = true;
  expect_all_synced();
}

// What a document says for a moment does not count for a day.
TEST_F(WrongDirectoryTest, ADocumentThatNamesAnotherHostIsLookedUpAnew) {
  live_repo x{1}; // Has the same keys.
  open(1, http_answer(200, make_document(
                             x.did().str(),
                             x.key().public_part().to_multikey(),
                             "https://former.test")));
  ASSERT_TRUE(node->await_metric("weir_listing_finished_total", 2));
  EXPECT_EQ(node->repo(x.did()).status, "");
  is_right = true;
  expect_all_synced();
}

} // namespace weir::tests
