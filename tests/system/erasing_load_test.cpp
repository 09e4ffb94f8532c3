#include "tests/support/net_fixture.hpp"
#include "tests/system/commit_load.hpp"
#include "tests/system/live_repo.hpp"
#include "tests/system/disk_texts.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <algorithm>
#include <iostream>
#include <list>
#include <optional>

// Erased content leaves the disk while live commits come without a pause, and
// the commits do not wait for that.

namespace weir::tests {

namespace {

constexpr size_t busy_repos = 64;
constexpr size_t leaving_repos = 8;
/// Each of these repos is erased in many steps.
constexpr size_t leaving_records = 2'000;
constexpr size_t quiet_commits = 10'000;
/// Ten times the delay of the slowest commit on a quiet machine.
constexpr std::chrono::milliseconds longest_wait{2'000 * slowness};
/// Ten times the duration with a pause after each of 128 steps.
constexpr std::chrono::seconds busy_patience{130 * slowness};
/// Ten times the duration on a quiet machine, which is about a second.
constexpr std::chrono::seconds idle_patience{15 * slowness};

class ErasingLoadTest : public NetFixture {
protected:
  ErasingLoadTest() {
    host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    for (size_t i = 0; i < busy_repos; ++i)
      make(busy, 1 + i, 1);
    for (size_t i = 0; i < leaving_repos; ++i)
      make(leaving, 1'001 + i, leaving_records);
  }

  void make(std::list<live_repo>& where, uint64_t seed, size_t records) {
    auto& out = where.emplace_back(seed);
    const auto text = unlikely_text(seed);
    for (size_t i = 0; i < records; ++i)
      out.put("app.test.note/" + std::to_string(i),
              make_record(text + std::to_string(i)));
    out.commit();
    host.publish_and_serve(out);
    (&where == &busy ? kept : gone).push_back(text);
  }

  /// Starts a node that has all repos, and the commits.
  void start() {
    node.emplace(std::vector{"relay:" + host.url()}, host.url());
    for (const auto* some : {&busy, &leaving}) {
      std::vector<atproto::did> dids;
      for (const auto& x : *some)
        dids.push_back(x.did());
      node->add(dids);
    }
    for (const auto* some : {&busy, &leaving})
      for (const auto& x : *some)
        ASSERT_EQ(node->await(x.did(), "synced").status, "synced");
    ASSERT_EQ(on_disk(gone), leaving_repos) << "they would be found";
    load.emplace(network, node->data_url(), stream, busy);
  }

  /// Number of these texts that are in a file.
  size_t on_disk(const std::vector<std::string>& texts) const {
    return texts_on_disk(node->data_dir(), texts);
  }

  /// Removes half of the repos by hand and deletes the accounts of the others.
  void go() {
    std::vector<atproto::did> removed;
    for (const auto& x : leaving)
      if (removed.size() < leaving.size() / 2)
        removed.push_back(x.did());
      else
        EXPECT_TRUE(load->send([&](int64_t seq) {
          atproto::account_event event;
          event.seq = seq;
          event.repo = x.did();
          const auto made = frame_time_of_now();
          event.time = made;
          event.status = "deleted";
          return atproto::encode_frame(event);
        }));
    node->remove(removed);
  }

  /// Expects that nothing of these repos is on the disk.
  void expect_gone(std::chrono::seconds at_most) {
    EXPECT_TRUE(eventually(at_most, [this] {
      return node->metric("weir_repos_erased_total") == leaving_repos;
    })) << node->metric("weir_repos_erased_total");
    EXPECT_EQ(on_disk(gone), 0u);
  }

  /// Looks while no node runs, because tables that are being moved are
  /// sometimes not found. A text that occurs only once and is split at the
  /// start of a part of the log is not found either.
  void expect_kept() {
    node->restart([this] {
      EXPECT_EQ(on_disk(gone), 0u);
      EXPECT_GT(on_disk(kept), busy_repos / 2);
    });
  }

  /// Ends the commits and expects that each came once and in order.
  void end_commits() {
    EXPECT_TRUE(load->stop()) << "a commit that never came";
    EXPECT_EQ(load->surprise(), "");
    for (const auto& x : busy) {
      EXPECT_EQ(node->repo(x.did()).rev, x.rev().str());
      EXPECT_EQ(node->repo(x.did()).records, 2u);
    }
  }

  hostile_stream stream;
  hostile_host host;
  std::list<live_repo> busy;
  std::list<live_repo> leaving;
  std::vector<std::string> kept; ///< Texts of the busy repos.
  std::vector<std::string> gone; ///< Texts of the leaving repos.
  std::optional<hostile_node> node;
  std::optional<commit_load> load;
};

} // namespace

// SYNC-30; storage-format.md 5.1: the time has a bound under load.
TEST_F(ErasingLoadTest, BesideCommitsContentLeavesTheDiskAndKeepsNoneWaiting) {
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_TRUE(load->await(quiet_commits));
  const auto quiet = load->ask();
  go();
  expect_gone(busy_patience);
  const auto beside = load->ask();
  std::cout << quiet << "; beside erasing " << beside << "\n";
  EXPECT_GT(beside.commits, commit_load::window)
    << "what is tested was not reached";
  EXPECT_LE(beside.longest, std::max(10 * quiet.longest, longest_wait));
  end_commits();
  expect_kept();
}

// SYNC-30; storage-format.md 5.1: within seconds when idle; here the commits
// end during the erasure.
TEST_F(ErasingLoadTest, WhenCommitsEndContentLeavesTheDiskWithinSeconds) {
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_TRUE(load->await(quiet_commits));
  go();
  end_commits();
  expect_gone(idle_patience);
  expect_kept();
}

} // namespace weir::tests
