#include "actors/node/memory_plan.hpp"
#include "actors/node/node_config.hpp"
#include "actors/router/limits.hpp"
#include "actors/support/limits.hpp"
#include "storage/disk/partition_stores.hpp"
#include "tests/system/crowd_rows.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <atomic>

// A listing that differs from the known rev of nearly every repo while the
// stream is behind. The commits may be on their way, so each repo that the
// listing contradicts stays awake.

namespace weir::tests {

namespace {

constexpr auto small_memory = "128MiB";
constexpr uint64_t small_memory_bytes = 128 * megabyte;
constexpr size_t crowd = 8'000;
constexpr size_t page_lines = 20;

class ListingCrowdTest : public NetFixture {
protected:
  ListingCrowdTest() {
    host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    host.on("/xrpc/com.atproto.sync.listRepos",
            [this](raw_peer& peer, const std::string&) {
              peer.send(lists ? next_page() : http_answer(503, {}));
            });
  }

  /// A page that lists repos at a later rev than is known.
  std::string next_page() {
    const auto n = pages++;
    std::string lines;
    for (auto i = n * page_lines; i < (n + 1) * page_lines; ++i)
      lines += (lines.empty() ? R"({"did":")" : R"(,{"did":")")
               + crowd_did(i).str() + R"(","head":")" + any.data().to_text()
               + R"(","rev":")" + any.rev().str() + R"(","active":true})";
    const auto last = (n + 1) * page_lines >= crowd;
    return http_answer(200, R"({"repos":[)" + lines + ']'
                              + (last ? "" : R"(,"cursor":")"
                                               + std::to_string(n) + '"')
                              + '}');
  }

  /// The node tracks these repos, and has had no event about them in this life.
  void add_sleeping(hostile_node& node) {
    std::vector<atproto::did> dids;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      auto& x = sleeping.emplace_back(seed);
      x.put("app.test.note/a", make_record("one"));
      x.commit();
      host.publish_and_serve(x);
      dids.push_back(x.did());
    }
    node.add(dids);
    for (const auto& did : dids)
      ASSERT_EQ(node.await(did, "synced").status, "synced");
  }

  /// Adds repos that are synced according to the store.
  static void add_crowd(const std::string& data) {
    storage::repo_row row;
    row.status = storage::repo_status::synced;
    row.filter_generation = 1;
    storage::database_options where;
    where.directory = data;
    for (const auto& db : storage::open_partition_stores(where, 0).value())
      db->write(crowd_rows(row, crowd, db->identity()),
                storage::sync_mode::durable)
        .value();
  }

  void expect_live(hostile_node& node, live_repo& repo) {
    repo.put("app.test.note/b", make_record("two"));
    auto commit = repo.draft();
    commit.seq = ++seq;
    ASSERT_TRUE(stream.send(commit.encode(commit.sign(repo.key()))));
    EXPECT_TRUE(eventually(node_patience, [&] {
      return node.repo(repo.did()).rev == repo.rev().str();
    })) << node.repo(repo.did()).rev;
  }

  hostile_stream stream;
  hostile_host host; ///< The relay, directory and PDS.
  std::atomic<bool> lists{false};
  std::atomic<size_t> pages{0};
  const live_repo any = [] {
    live_repo out{1'000};
    out.put("app.test.note/a", make_record("one"));
    out.commit();
    return out;
  }();
  std::list<live_repo> sleeping;
  int64_t seq = 0;
};

} // namespace

// actors.md, Falling asleep; limits::undecided_part: one listing keeps at
// most a quarter of the repos awake for which there is memory. Its other lines
// wait, and live commits of other repos do not.
TEST_F(ListingCrowdTest, AListingDuringCatchUpKeepsNoMoreAwakeThanItsShare) {
  actors::node_config config;
  config.memory_limit = small_memory_bytes;
  const auto awake_max = actors::plan_memory(config).repos
                         / limits::repo_actor_bytes
                         / limits::undecided_part / 2;
  ASSERT_GT(crowd, 2 * awake_max);
  hostile_node node{{"relay:" + host.url()},
                    host.url(),
                    {"--mode", "manual", "--memory-limit", small_memory,
                     "--sync-parallelism", "4", "--listing-grace", "1h"}};
  ASSERT_NO_FATAL_FAILURE(add_sleeping(node));
  node.restart([&] {
    add_crowd(node.data_dir());
    lists = true;
  });
  ASSERT_TRUE(eventually(node_patience, [&] {
    return pages * page_lines >= awake_max / 10 * 8;
  })) << pages;
  for (auto& repo : sleeping)
    expect_live(node, repo);
  EXPECT_LE(pages, awake_max / page_lines + 1) << "the next page waits";
  EXPECT_LT(node.peak_bytes(), small_memory_bytes + memory_slack);
}

} // namespace weir::tests
