#include "storage/format/limits.hpp"
#include "tests/system/default_node.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

// How much a node writes for the events that it gets.

namespace weir::tests {

// hostile-inputs.md 2.1.36; limits::chain_streams_inline_max: a commit writes
// only what it changes, not everything that the repo has.
TEST(WriteAmountTest, ACommitOfARepoWithManyCollectionsWritesLittle) {
  constexpr size_t commits = 100;
  constexpr size_t bytes_of_one_max = 8'192;
  hostile_stream stream;
  hostile_host host;
  host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  live_repo repo{1};
  for (size_t i = 0; i + 1 < limits::repo_streams_max; ++i)
    repo.put("com.example.collection" + std::to_string(i) + "/self",
             make_record("one"));
  repo.commit();
  host.publish_and_serve(repo);
  // Several partitions would share the room for names of collections.
  hostile_node node{{"relay:" + host.url()},
                    host.url(),
                    {"--mode", "manual", "--partitions", "1"}};
  node.add({repo.did()});
  ASSERT_EQ(node.await(repo.did(), "synced").status, "synced");
  const auto before = bytes_of_directory(node.data_dir());
  for (size_t i = 0; i < commits; ++i) {
    repo.put("com.example.collection7/self", make_record(std::to_string(i)));
    auto x = repo.draft();
    x.seq = static_cast<int64_t>(i) + 1;
    ASSERT_TRUE(stream.send(x.encode(x.sign(repo.key()))));
    // One by one; otherwise several would be written together.
    ASSERT_TRUE(eventually(node_patience, [&] {
      return node.repo(repo.did()).rev == repo.rev().str();
    }));
  }
  // Nothing is merged yet, so the store's log has everything that was written.
  EXPECT_LT(bytes_of_directory(node.data_dir()),
            before + commits * bytes_of_one_max);
}

} // namespace weir::tests
