#include "apps/demo/evidence.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/patience.hpp"
#include "tests/system/store_left.hpp"
#include "wire/filter.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <mutex>

// SYNC-20; completeness.md, The terms: records that were indexed under another
// filter are not complete under this one. They are completed without an event
// of the repo.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

class FilterChangeTest : public testing::Test {
protected:
  /// Starts a node that keeps `collections`, waits until a consumer has all its
  /// events, and stops the node.
  void live(const std::vector<std::string>& collections);

  void track_all(const node_addresses& at);

  /// How the copy differs from the network's records in `collections`.
  std::string difference(const wire::collection_filter& kept);

  followed_network net{23, 12, 600};
  const temp_dir dir;
  const std::string data = dir.at("data");
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
  std::mutex guard;
  apps::event_copy copy;
  uint64_t fetches = 0; ///< Fetches of the last life.
};

std::string FilterChangeTest::difference(const wire::collection_filter& kept) {
  const std::lock_guard lock{guard};
  std::string out;
  for (const auto& x : net.life().truth().expected()) {
    std::map<std::string, std::string> wanted;
    for (const auto& record : x.records)
      if (kept.matches(atproto::split_path(record.path).collection))
        wanted.emplace(record.path, record.id.to_text());
    const auto known = copy.accounts().find(x.account.id.str());
    std::map<std::string, std::string> has;
    if (known != copy.accounts().end())
      has = {known->second.records.begin(), known->second.records.end()};
    if (has != wanted)
      out += x.account.id.str() + " has " + std::to_string(has.size())
             + " records, not " + std::to_string(wanted.size()) + "\n";
  }
  return out;
}

void FilterChangeTest::track_all(const node_addresses& at) {
  boost::json::array dids;
  for (const auto& x : net.life().truth().expected())
    dids.emplace_back(x.account.id.str());
  const auto body = boost::json::serialize(boost::json::object{{"dids", dids}});
  const auto answer = web->post(at.data + "/repos/add", body);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
}

void FilterChangeTest::live(const std::vector<std::string>& collections) {
  auto how = net.arguments(data, {"--mode", "manual"});
  for (const auto& x : collections)
    how.insert(how.end(), {"--collections", x});
  // There is no stream and no listing, so nothing else wakes a repo.
  std::replace(how.begin(), how.end(), "relay:" + net.urls().relay,
               std::string{"relay:http://127.0.0.1:1"});
  program node{how};
  const auto at = parse_ready(node.read_line(node_patience).value_or(""));
  ASSERT_NE(at.data, "") << tail_of(node.errors());
  if (copy.counts().received == 0)
    track_all(at);
  const channel_client consumer{
    web->transport(), at.data, [this](const auto& texts) {
      const std::lock_guard lock{guard};
      std::vector<uint64_t> acks;
      for (const auto text : texts)
        acks.push_back(copy.take(text, {}).value().id);
      return acks;
    }};
  const auto kept = wire::collection_filter::parse(collections).value();
  EXPECT_TRUE(eventually(node_patience,
                         [&] {
                           const auto now = status_of(*web, at);
                           return difference(kept).empty() && now.outbox == 0
                                  && now.synced == now.repos;
                         }))
    << difference(kept) << tail_of(node.errors());
  const auto page = web->get(at.operations + "/metrics").value();
  fetches = apps::metric_total(as_text(page.body),
                               "weir_backfill_started_total", "");
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0);
  EXPECT_EQ(store_left::read(data).findings, "");
}

TEST_F(FilterChangeTest, QuietReposAreFetchedAgainWhenTheFilterGrew) {
  live({"app.bsky.feed.post"});
  const auto before = copy.counts();
  ASSERT_GT(before.records, 0u);
  live({"app.bsky.feed.*", "app.bsky.graph.*"});
  const auto wider = copy.counts().records;
  EXPECT_GT(wider, before.records);
  live({});
  EXPECT_GT(copy.counts().records, wider);
  EXPECT_EQ(copy.counts().conflicts, 0u);
}

// A copy contains only what its filter keeps; otherwise it would present old
// records as complete.
TEST_F(FilterChangeTest, WhatANarrowerFilterLeavesOutIsDeletedAtApplications) {
  live({});
  const auto before = copy.counts().records;
  live({"app.bsky.graph.*"});
  EXPECT_GT(fetches, 0u);
  EXPECT_GT(copy.counts().records, before); // Deletions count, too.
  live({});
  EXPECT_EQ(copy.counts().conflicts, 0u);
}

TEST_F(FilterChangeTest, TheSameFilterFetchesNothingAgain) {
  live({"app.bsky.graph.*", "app.bsky.feed.*"});
  EXPECT_GT(fetches, 0u);
  live({"app.bsky.feed.*", "app.bsky.graph.*", "app.bsky.feed.*"});
  EXPECT_EQ(fetches, 0u);
}

} // namespace

} // namespace weir::tests
