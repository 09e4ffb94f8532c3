#include "atproto/dag_cbor.hpp"
#include "simnet/traffic.hpp"
#include "simnet/world.hpp"
#include "tests/unit/simnet/mirror.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace weir::tests {

namespace {

using simnet::world;

class WorldTest : public ::testing::Test {
protected:
  manual_clock time;
};

/// All output of a network as one string of bytes.
bytes everything(const world& x) {
  bytes out;
  const auto add = [&out](bytes_view y) {
    out.insert(out.end(), y.begin(), y.end());
  };
  for (size_t i = 0; i < x.accounts(); ++i) {
    add(x.export_car(i).view());
    add(as_bytes(x.view(i).handle));
    add(as_bytes(x.view(i).signing_key));
  }
  for (size_t i = 0; i < x.hosts(); ++i)
    for (const auto& item : listen(x.host_log(i)).frames)
      add(item.frame.view());
  return out;
}

} // namespace

TEST_F(WorldTest, TheSameSeedGivesTheSameBytes) {
  world x{small_network(time)};
  world y{small_network(time)};
  simnet::traffic{x}.make(100);
  simnet::traffic{y}.make(100);
  EXPECT_EQ(everything(x), everything(y));
}

TEST_F(WorldTest, AnotherSeedGivesOtherAccounts) {
  auto options = small_network(time);
  const world x{options};
  options.population.seed = 2;
  const world y{options};
  EXPECT_NE(x.view(0).id, y.view(0).id);
  EXPECT_NE(x.view(0).data, y.view(0).data);
}

TEST_F(WorldTest, EveryExportVerifiesAndEqualsTheTruth) {
  const world x{small_network(time)};
  mirror copies{x, time.wall_now()};
  copies.fetch_all();
  EXPECT_EQ(copies.copies(), expected_copies(x));
}

// In both orders: the streams of the hosts, and the relay's.
TEST_F(WorldTest, TheTruthIsTheFoldOfTheFrames) {
  world x{small_network(time)};
  mirror by_host{x, time.wall_now()};
  mirror by_relay{x, time.wall_now()};
  by_host.fetch_all();
  by_relay.fetch_all();
  simnet::traffic life{x};
  ASSERT_EQ(life.make(1500), 1500u);
  for (size_t i = 0; i < x.hosts(); ++i)
    by_host.follow(x.host_log(i));
  by_relay.follow(*x.relay_log());
  EXPECT_EQ(by_host.commits(), life.counts().commits);
  EXPECT_EQ(by_relay.commits(), life.counts().commits);
  EXPECT_EQ(by_host.copies(), expected_copies(x));
  EXPECT_EQ(by_relay.copies(), expected_copies(x));
}

// Shares and sizes are like those of records in the real network.
TEST_F(WorldTest, RecordsAreShapedLikeThoseOfTheNetwork) {
  const world x{small_network(time, 200, 20'000)};
  std::map<std::string, double> kinds;
  std::vector<size_t> sizes;
  double size = 0;
  double records = 0;
  for (size_t i = 0; i < x.accounts(); ++i) {
    sizes.push_back(x.view(i).records);
    x.visit_records(i, {},
                    [&](const std::string& path, const simnet::record& item) {
                      EXPECT_TRUE(atproto::valid_repo_path(path)) << path;
                      EXPECT_TRUE(atproto::cbor::validate(item.block)) << path;
                      kinds[path.substr(0, path.find('/'))] += 1;
                      size += static_cast<double>(item.block.size());
                      records += 1;
                      return true;
                    });
  }
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), size_t{0}), 20'000u);
  EXPECT_NEAR(size / records, 224, 12);
  EXPECT_NEAR(kinds["app.bsky.feed.like"] / records, 0.55, 0.03);
  EXPECT_NEAR(kinds["app.bsky.graph.follow"] / records, 0.20, 0.03);
  EXPECT_NEAR(kinds["app.bsky.feed.repost"] / records, 0.10, 0.02);
  EXPECT_NEAR(kinds["app.bsky.feed.post"] / records, 0.14, 0.02);
  EXPECT_GE(kinds.size(), 8u);
  std::ranges::sort(sizes);
  EXPECT_LT(sizes[100], 30u);
  EXPECT_GT(sizes.back(), 3000u);
}

TEST_F(WorldTest, UnsafeRecordsComeOnlyWhenAskedFor) {
  auto options = small_network(time, 20, 5000);
  options.population.unsafe_records = true;
  const world x{options};
  size_t refused = 0;
  size_t numbers = 0;
  for (size_t i = 0; i < x.accounts(); ++i)
    x.visit_records(i, {},
                    [&](const std::string& path, const simnet::record& item) {
                      numbers += path.starts_with("org.example.number/");
                      refused += !atproto::cbor::validate(item.block);
                      return true;
                    });
  EXPECT_GT(refused, 0u);      // Because of floats.
  EXPECT_GT(numbers, refused); // Also because of large integers.
}

// protocol-coverage.md 11.5: identity, account, commit without prevData, sync.
TEST_F(WorldTest, ANewAccountIsAnnouncedAsARealHostDoes) {
  world x{small_network(time)};
  const auto index = x.add_account();
  const auto account = x.view(index);
  const auto heard = listen(x.host_log(account.host));
  ASSERT_EQ(heard.events.size(), 5u);
  const auto& identity = std::get<atproto::identity_event>(heard.events[0]);
  EXPECT_EQ(identity.handle, account.handle);
  EXPECT_TRUE(std::get<atproto::account_event>(heard.events[1]).active);
  const auto& first = std::get<atproto::commit_event>(heard.events[2]);
  EXPECT_FALSE(first.prev_data.defined());
  EXPECT_FALSE(first.since.has_value());
  EXPECT_TRUE(first.ops.empty());
  EXPECT_EQ(std::get<atproto::sync_event>(heard.events[3]).rev, first.rev);
  const auto& second = std::get<atproto::commit_event>(heard.events[4]);
  EXPECT_EQ(second.since, first.rev);
  EXPECT_EQ(second.ops.front().path, "app.bsky.actor.profile/self");
  EXPECT_EQ(x.find(account.id.str()), index);
  EXPECT_EQ(x.find_handle(account.handle), index);
  mirror copies{x, time.wall_now()};
  copies.follow(x.host_log(account.host));
  EXPECT_EQ(copies.copies().at(account.id.str()),
            expected_copies(x).at(account.id.str()));
}

TEST_F(WorldTest, AccountsStopGrowingAtTheirLimit) {
  auto options = small_network(time, 4, 40);
  options.mix.growth_max = 10;
  options.mix.batches = 0;
  world x{options};
  std::vector<size_t> before;
  for (size_t i = 0; i < x.accounts(); ++i)
    before.push_back(x.view(i).records);
  simnet::traffic life{x};
  for (int i = 0; i < 20; ++i) {
    life.make(50);
    for (size_t j = 0; j < x.accounts(); ++j)
      EXPECT_LE(x.view(j).records, before[j] + 10);
  }
}

TEST_F(WorldTest, TrafficKeepsItsProportions) {
  world x{small_network(time, 40, 4000)};
  simnet::traffic life{x};
  life.make(5000);
  const auto counts = life.counts();
  EXPECT_EQ(counts.events, 5000u);
  EXPECT_NEAR(static_cast<double>(counts.identities + counts.accounts), 50, 30);
  size_t batches = 0;
  size_t removals = 0;
  for (const auto& event : listen(*x.relay_log()).events)
    if (const auto* commit = std::get_if<atproto::commit_event>(&event)) {
      batches += commit->ops.size() > 1;
      removals += commit->ops.front().action == atproto::op_action::remove;
    }
  EXPECT_NEAR(static_cast<double>(batches), 100, 50);
  EXPECT_NEAR(static_cast<double>(removals), 650, 150);
}

} // namespace weir::tests
