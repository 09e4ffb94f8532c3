#include "tests/system/followed_node.hpp"
#include "tests/system/store_left.hpp"
#include "wire/filter.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>
#include <set>

// Which repos are tracked in each mode, and which of their records are kept
// (SYNC-17 to SYNC-20, SYNC-23, SYNC-25).

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

constexpr auto follows = "app.bsky.graph.follow";
constexpr auto posts = "app.bsky.feed.post";
constexpr auto profiles = "app.bsky.actor.profile";

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

  void track(const std::string& did, std::vector<std::string> collections = {});

  void untrack(const std::string& did);

  /// Waits until the copy has the `kept` records of exactly `repos`, and no
  /// work is left.
  void expect_copy(const std::function<std::set<std::string>()>& repos,
                   const wire::collection_filter& kept);

  std::string copy_difference(const std::set<std::string>& repos,
                              const wire::collection_filter& kept);

  /// The application's records of this repo.
  auto copied(const std::string& did) {
    return copy.read([&did](const apps::event_copy& x) {
      return x.accounts().at(did).records;
    });
  }

  bool await_erased() {
    return eventually(node_patience, [this] {
      return metric("weir_repos_erased_total") == 1;
    });
  }

  /// The accounts with a record in this collection.
  std::set<std::string> holding(std::string_view collection);

  std::set<std::string> everybody();

  /// Lets one account write until it has one more post: the first account that
  /// is in `those`, or that is not.
  void write_posts(bool among, const std::set<std::string>& those);

  /// For a node that follows the accounts with a record in `follows` and keeps
  /// `posts`: expects those that had one before, then those that write their
  /// first one.
  void expect_holders_of_follows();

  /// The number of tracked repos that the node reports.
  uint64_t tracked() { return status_of(*web, at).repos; }

  /// Filters of repos that were added with collections.
  std::map<std::string, wire::collection_filter> own;
};

void ModesTest::track(const std::string& did,
                      std::vector<std::string> collections) {
  const auto body = boost::json::serialize(boost::json::object{
    {"dids", boost::json::array{did}},
    {"collections", boost::json::value_from(std::move(collections))}});
  const auto answer = web->post(at.data + "/repos/add", body);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
}

void ModesTest::untrack(const std::string& did) {
  const auto answer = web->post(
    at.data + "/repos/remove",
    boost::json::serialize(
      boost::json::object{{"dids", boost::json::array{did}}}));
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

void ModesTest::write_posts(bool among, const std::set<std::string>& those) {
  const auto& truth = net.life().truth();
  size_t who = 0;
  while (those.contains(truth.view(who).id.str()) != among)
    ++who;
  const auto posted = [&] {
    size_t out = 0;
    for (const auto& x : truth.expected())
      if (x.account.id == truth.view(who).id)
        for (const auto& record : x.records)
          out += atproto::split_path(record.path).collection == posts;
    return out;
  };
  const auto before = posted();
  while (posted() == before)
    net.life().traffic().post(who);
}

std::string ModesTest::copy_difference(const std::set<std::string>& repos,
                                       const wire::collection_filter& kept) {
  const auto accounts = copy.read([](const apps::event_copy& x) {
    return x.accounts();
  });
  std::string out;
  for (const auto& x : net.life().truth().expected()) {
    const auto& did = x.account.id.str();
    const auto& rule = own.contains(did) ? own.at(did) : kept;
    std::map<std::string, std::string> wanted;
    for (const auto& record : x.records)
      if (repos.contains(did)
          && rule.matches(atproto::split_path(record.path).collection))
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

void ModesTest::expect_holders_of_follows() {
  const auto before = holding(follows);
  ASSERT_FALSE(before.empty());
  ASSERT_LT(before.size(), everybody().size());
  const auto kept = wire::collection_filter::parse({posts}).value();
  expect_copy([&] { return before; }, kept); // These accounts are quiet.
  write_posts(false, before); // A record that is kept is not a signal.
  write_posts(true, before);
  ASSERT_EQ(holding(follows), before);
  expect_copy([&] { return before; }, kept);
  for (size_t i = 0; i < 10 && holding(follows) == before; ++i)
    net.life().traffic().make(200);
  ASSERT_GT(holding(follows).size(), before.size());
  expect_copy(
    [this, &before] {
      // An account that deleted its record stays tracked.
      auto out = holding(follows);
      out.insert(before.begin(), before.end());
      return out;
    },
    kept);
  end();
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
  net.life().traffic().make(300); // Writes of all accounts.
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

/// Names of all collections below app.bsky.feed in the traffic.
std::vector<std::string> feed_collections(const simnet::truth& of) {
  std::set<std::string> out;
  for (const auto& x : of.expected())
    for (const auto& record : x.records) {
      const std::string name{atproto::split_path(record.path).collection};
      if (name.starts_with("app.bsky.feed."))
        out.insert(name);
    }
  return {out.begin(), out.end()};
}

// SYNC-20, SYNC-21, SYNC-22, SYNC-24: a pattern and a name, live and fetched.
// Commits outside of both still advance the chain. Two more patterns match
// nothing: one ends within a segment, one within a name.
TEST_F(ModesTest, TheFilterDecidesInAllModesWhatIsStored) {
  auto names = feed_collections(net.life().truth());
  ASSERT_GT(names.size(), 1u);
  names.push_back(follows);
  const auto kept = wire::collection_filter::parse(names).value();
  ASSERT_FALSE(holding(profiles).empty());
  start({"--mode", "full-network", "--collections",
         std::string{"app.bsky.feed.*,app.bsky.act.*,app.bsky.actor.prof,"}
           + follows});
  expect_copy([this] { return everybody(); }, kept);
  net.life().traffic().make(300);
  expect_copy([this] { return everybody(); }, kept);
  const auto events = "weir_repo_events_total";
  EXPECT_GT(metric(events, "result=\"filtered\""), 0u);
  EXPECT_EQ(metric(events, "result=\"chain_broken\""), 0u);
  end();
}

// SYNC-20, SYNC-29: in manual mode, and one repo with collections of its own
TEST_F(ModesTest, ARepoKeepsTheCollectionsThatItWasAddedWith) {
  start({"--mode", "manual", "--collections", posts});
  const auto usual = net.life().truth().view(3).id.str();
  const auto special = net.life().truth().view(4).id.str();
  own.emplace(special, wire::collection_filter::parse({follows}).value());
  track(usual);
  track(special, {follows});
  net.life().traffic().make(300);
  expect_copy([&] { return std::set{usual, special}; },
              wire::collection_filter::parse({posts}).value());
  end();
}

// SYNC-29; docs/api.md, POST /repos/add
TEST_F(ModesTest, WhatARepoKeepsNoMoreIsDeletedAtApplications) {
  start({"--mode", "manual"});
  const auto chosen = net.life().truth().view(3).id.str();
  track(chosen);
  expect_copy([&] { return std::set{chosen}; }, {});
  own.emplace(chosen, wire::collection_filter::parse({follows}).value());
  track(chosen, {follows});
  expect_copy([&] { return std::set{chosen}; }, {});
  own.clear(); // Back to the node's own filter.
  untrack(chosen);
  track(chosen);
  expect_copy([&] { return std::set{chosen}; }, {});
  end();
}

// SYNC-30; docs/api.md, POST /repos/remove; ADR 16: applications keep what they
// have
TEST_F(ModesTest, ARemovedRepoIsNotDeletedAtApplications) {
  start({"--mode", "manual"});
  const auto removed = net.life().truth().view(3).id.str();
  const auto kept = net.life().truth().view(4).id.str();
  track(removed);
  track(kept);
  expect_copy([&] { return std::set{removed, kept}; }, {});
  const auto before = copied(removed);
  ASSERT_FALSE(before.empty());
  untrack(removed);
  ASSERT_TRUE(await_erased());
  net.life().traffic().post(3); // No application gets these.
  net.life().traffic().post(4);
  EXPECT_TRUE(eventually(node_patience, [&] {
    return copy_difference({kept}, {}) == removed + " came\n";
  })) << copy_difference({kept}, {});
  EXPECT_TRUE(copied(removed) == before);
  end();
}

// ADR 16: how deletions are sent nevertheless. Records that were not sent
// before the removal are not deleted either.
TEST_F(ModesTest, ARepoThatKeepsNothingAnyMoreIsRemovedWithDeletes) {
  start({"--mode", "manual"});
  const auto heard = net.life().truth().view(3).id.str();
  const auto unheard = net.life().truth().view(4).id.str();
  const std::string nothing = "com.example.nothing";
  track(heard);
  track(unheard);
  expect_copy([&] { return std::set{heard, unheard}; }, {});
  own.emplace(heard, wire::collection_filter::parse({nothing}).value());
  track(heard, {nothing});
  expect_copy([&] { return std::set{heard, unheard}; }, {});
  untrack(heard);
  ASSERT_TRUE(await_erased());
  EXPECT_TRUE(copied(heard).empty());
  copy.end(); // The application disconnects.
  const auto before = copied(unheard);
  track(unheard, {nothing});
  ASSERT_TRUE(eventually(node_patience, [&] {
    const auto now = status_of(*web, at);
    return now.synced == 1 && now.outbox == before.size();
  }));
  untrack(unheard);
  ASSERT_TRUE(eventually(node_patience, [this] { return tracked() == 0; }));
  copy.follow(*web, at.data);
  ASSERT_TRUE(eventually(node_patience, [this] {
    return status_of(*web, at).outbox == 0;
  }));
  EXPECT_TRUE(copied(unheard) == before);
  end();
}

// SYNC-18, SYNC-23, SYNC-25; protocol-coverage.md 9.2: accounts with a record
// in the signal collection are found by the relay's listing or by an event.
// Records of another collection are kept.
TEST_F(ModesTest, SignalModeFollowsWhoHasARecordInTheCollection) {
  start({"--mode", "signal", "--signal-collection", follows, "--collections",
         posts});
  expect_holders_of_follows();
}

// SYNC-18: a PDS cannot list the accounts with records in a collection, so each
// is asked about, and later ones are found by an event
TEST_F(ModesTest, SignalModeAsksHostsWhoHasARecordInTheCollection) {
  run(arguments(true, {"--mode", "signal", "--signal-collection", follows,
                       "--collections", posts}));
  expect_holders_of_follows();
}

} // namespace

} // namespace weir::tests
