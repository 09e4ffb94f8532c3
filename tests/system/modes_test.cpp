#include "tests/system/followed_node.hpp"
#include "tests/system/store_left.hpp"
#include "wire/filter.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <set>

// Which repos are tracked in each mode, and which of their records are kept
// (SYNC-17 to SYNC-20, SYNC-23, SYNC-25; requirements.md 3b.2, 3d).

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

constexpr auto follows = "app.bsky.graph.follow";
constexpr auto posts = "app.bsky.feed.post";

class ModesTest : public followed_node, public testing::Test {
protected:
  ModesTest() : followed_node(31, 16, 400) {
    // nop
  }

  void start(std::vector<std::string> more) {
    run(arguments(false, std::move(more)));
  }

  void end() {
    stop();
    EXPECT_EQ(store_left::read(data).findings, "");
  }

  void track(const std::string& did);

  /// Waits until the copy has the `kept` records of exactly `repos`, and
  /// nothing is left to do.
  void expect_copy(const std::function<std::set<std::string>()>& repos,
                   const wire::collection_filter& kept);

  std::string copy_difference(const std::set<std::string>& repos,
                              const wire::collection_filter& kept);

  /// Accounts with a record in it.
  std::set<std::string> holding(std::string_view collection);

  std::set<std::string> everybody();

  /// By how many repos the node says it tracks.
  uint64_t tracked() { return status_of(*web, at).repos; }
};

void ModesTest::track(const std::string& did) {
  const auto body = boost::json::serialize(
    boost::json::object{{"dids", boost::json::array{did}}});
  const auto answer = web->post(at.data + "/repos/add", body);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
}

std::set<std::string> ModesTest::holding(std::string_view collection) {
  std::set<std::string> out;
  for (const auto& x : net.life().truth().expected())
    for (const auto& record : x.records)
      if (atproto::split_path(record.path).collection == collection)
        out.insert(x.account.id.str());
  return out;
}

std::set<std::string> ModesTest::everybody() {
  std::set<std::string> out;
  for (const auto& x : net.life().truth().expected())
    out.insert(x.account.id.str());
  return out;
}

std::string ModesTest::copy_difference(const std::set<std::string>& repos,
                                       const wire::collection_filter& kept) {
  const auto accounts = copy.read([](const apps::event_copy& x) {
    return x.accounts();
  });
  std::string out;
  for (const auto& x : net.life().truth().expected()) {
    const auto& did = x.account.id.str();
    std::map<std::string, std::string> wanted;
    for (const auto& record : x.records)
      if (repos.contains(did)
          && kept.matches(atproto::split_path(record.path).collection))
        wanted.emplace(record.path, record.id.to_text());
    const auto known = accounts.find(did);
    if (repos.contains(did) != (known != accounts.end())) {
      out += did + (repos.contains(did) ? " never came\n" : " came\n");
      continue;
    }
    std::map<std::string, std::string> has;
    if (known != accounts.end())
      has = {known->second.records.begin(), known->second.records.end()};
    if (has != wanted)
      out += did + " has " + std::to_string(has.size()) + " records, not "
             + std::to_string(wanted.size()) + "\n";
  }
  return out;
}

void ModesTest::expect_copy(
  const std::function<std::set<std::string>()>& repos,
  const wire::collection_filter& kept) {
  EXPECT_TRUE(eventually(node_patience,
                         [&] {
                           const auto now = status_of(*web, at);
                           return now.outbox == 0 && now.synced == now.repos
                                  && copy_difference(repos(), kept).empty();
                         }))
    << copy_difference(repos(), kept) << tail_of(node->errors());
  EXPECT_EQ(tracked(), repos().size());
}

// SYNC-17, SYNC-25
TEST_F(ModesTest, ManualModeFollowsOnlyWhatWasAdded) {
  start({"--mode", "manual"});
  const auto chosen = net.life().truth().view(3).id.str();
  track(chosen);
  net.life().traffic().make(300); // Of everybody.
  net.life().traffic().post(3);
  expect_copy([&] { return std::set{chosen}; }, {});
  end();
}

// SYNC-19, SYNC-25: quiet repos from the listing
TEST_F(ModesTest, FullNetworkModeFollowsEveryListedRepo) {
  start({"--mode", "full-network"});
  expect_copy([this] { return everybody(); }, {});
  end();
}

// SYNC-18, SYNC-23, SYNC-25; protocol.md 9.2; requirements.md 3b.2, 3d: whoever has a record in
// the signal collection, found by the relay's listing or by an event, with the
// records of another one
TEST_F(ModesTest, SignalModeFollowsWhoHasARecordInTheCollection) {
  const auto before = holding(follows);
  ASSERT_FALSE(before.empty());
  ASSERT_LT(before.size(), everybody().size());
  const auto kept = wire::collection_filter::parse({posts}).value();
  start({"--mode", "signal", "--signal-collection", follows, "--collections",
         posts});
  expect_copy([&] { return before; }, kept); // Quiet ones, by the listing.
  for (size_t i = 0; i < 10 && holding(follows) == before; ++i)
    net.life().traffic().make(200);
  ASSERT_GT(holding(follows).size(), before.size());
  expect_copy(
    [this, &before] {
      auto out = holding(follows); // Who deleted it stays.
      out.insert(before.begin(), before.end());
      return out;
    },
    kept);
  end();
}

} // namespace

} // namespace weir::tests
