#include "storage/format/limits.hpp"
#include "tests/system/disk_texts.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"
#include "tests/system/live_repo.hpp"

#include <algorithm>
#include <list>

// What is left of a removed repo on disk and in memory: neither its content nor
// the names of collections that only it used.

namespace weir::tests {

namespace {

/// A directory and an honest PDS, and another PDS whose accounts each have the
/// largest number of collections, all with names that no other account uses.
class ErasingTest : public testing::Test {
protected:
  static constexpr size_t honest = 60;
  static constexpr size_t inventors = 40;

  ErasingTest() {
    host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  }

  /// A repo whose records contain this text.
  live_repo& make(uint64_t seed, const std::string& text) {
    auto& out = repos.emplace_back(seed);
    out.put("app.test.note/a", make_record(text));
    out.put("app.test.like/b", make_record(text + " too"));
    out.commit();
    host.publish_and_serve(out);
    return out;
  }

  void make_inventors() {
    for (size_t i = 0; i < inventors; ++i) {
      live_repo inventor{1'000 + i};
      for (size_t n = 0; n < limits::repo_streams_max; ++n)
        inventor.put("com.evil.a" + std::to_string(i) + "x" + std::to_string(n)
                       + "/k",
                     make_record("one"));
      inventor.commit();
      host.publish(inventor, inventive.url());
      inventive.serve(inventor);
      invented.push_back(inventor.did());
    }
  }

  std::vector<atproto::did> accounts() const {
    std::vector<atproto::did> out;
    for (const auto& x : repos)
      out.push_back(x.did());
    return out;
  }

  hostile_stream stream;
  hostile_host host;
  hostile_host inventive;
  std::list<live_repo> repos;
  std::vector<atproto::did> invented;
};

} // namespace

// SYNC-30; storage-format.md 5.1.
TEST_F(ErasingTest, WhatARemovedRepoSaidLeavesTheDisk) {
  const auto gone = unlikely_text(1);
  const auto kept = unlikely_text(2);
  make(1, gone);
  make(2, kept);
  hostile_node node{{"relay:" + host.url()}, host.url()};
  node.add(accounts());
  for (const auto& x : repos)
    ASSERT_EQ(node.await(x.did(), "synced").status, "synced");
  ASSERT_EQ(texts_on_disk(node.data_dir(), {gone}), 1u) << "would be found";
  node.remove({repos.front().did()});
  EXPECT_TRUE(node.await_metric("weir_repos_erased_total", 1));
  EXPECT_EQ(texts_on_disk(node.data_dir(), {gone}), 0u);
  EXPECT_EQ(texts_on_disk(node.data_dir(), {kept}), 1u);
  EXPECT_EQ(node.repo(repos.back().did()).records, 2u);
}

// SYNC-30; storage-format.md 5.1.
TEST_F(ErasingTest, WhatADeletedAccountSaidLeavesTheDisk) {
  const auto gone = unlikely_text(3);
  const auto kept = unlikely_text(4);
  const auto& deleted = make(1, gone);
  make(2, kept);
  hostile_node node{{"relay:" + host.url()}, host.url()};
  node.add(accounts());
  for (const auto& x : repos)
    ASSERT_EQ(node.await(x.did(), "synced").status, "synced");
  node.restart([] {});
  ASSERT_EQ(texts_on_disk(node.data_dir(), {gone}), 1u) << "would be found";
  atproto::account_event event;
  event.seq = 1;
  event.repo = deleted.did();
  const auto made = frame_time_of_now();
  event.time = made;
  event.status = "deleted";
  ASSERT_TRUE(stream.send(atproto::encode_frame(event)));
  EXPECT_TRUE(node.await_metric("weir_repos_erased_total", 1));
  EXPECT_EQ(texts_on_disk(node.data_dir(), {gone}), 0u);
  EXPECT_EQ(texts_on_disk(node.data_dir(), {kept}), 1u);
  EXPECT_EQ(node.repo(deleted.did()).records, 0u);
  EXPECT_EQ(node.repo(repos.back().did()).records, 2u);
}

// docs/hostile-inputs.md: names of collections.
TEST_F(ErasingTest, WhoInventsNamesOfCollectionsTakesThemFromNobody) {
  make_inventors();
  // One partition, because each partition counts only the names of its own
  // repos.
  hostile_node node{
    {"relay:" + host.url()}, host.url(), {"--partitions", "1"}};
  node.add(invented);
  const auto done = [&] {
    return std::all_of(invented.begin(), invented.end(), [&](const auto& x) {
      const auto status = node.repo(x).status;
      return status == "synced" || status == "error";
    });
  };
  ASSERT_TRUE(eventually(node_patience, done));
  size_t refused = 0;
  for (const auto& x : invented) {
    const auto told = node.repo(x);
    refused += told.status == "error" ? 1 : 0;
    if (told.status == "error") {
      EXPECT_NE(told.error.find("collections"), std::string::npos) << told.error;
    }
  }
  EXPECT_GT(refused, inventors / 2);
  EXPECT_LT(node.metric("weir_collection_names_bytes"), 16 * megabyte);
  for (size_t i = 0; i < honest; ++i)
    make(i + 1, "one");
  node.add(accounts());
  for (const auto& x : repos)
    EXPECT_EQ(node.await(x.did(), "synced").status, "synced");
  node.remove(invented);
  EXPECT_TRUE(eventually(node_patience, [&] {
    return node.metric("weir_collections") == 2;
  })) << node.metric("weir_collections");
  EXPECT_LT(node.metric("weir_collection_names_bytes"), 1'000u);
  node.restart([] {});
  EXPECT_EQ(node.metric("weir_collections"), 2u);
}

} // namespace weir::tests
