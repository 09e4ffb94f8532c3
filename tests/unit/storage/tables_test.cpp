#include "storage/tables/chain_table.hpp"
#include "storage/tables/consumer_table.hpp"
#include "storage/tables/filter_table.hpp"
#include "storage/tables/identity_table.hpp"
#include "storage/tables/limits.hpp"
#include "storage/tables/repo_table.hpp"
#include "storage/tables/upstream_table.hpp"
#include "tests/unit/storage/journal_fixture.hpp"
#include "tests/unit/storage/sample_rows.hpp"

#include <array>

// The tables read what the writer writes: storage-format.md 3.

namespace weir::storage {
namespace {

using tests::test_account;
using tests::test_store;

class TablesTest : public testing::Test {
protected:
  repo_table repos() const { return {*store.db, *store.names}; }

  std::array<const database*, 1> one() const { return {store.db.get()}; }

  test_store store;
  test_account alice{'a'};
  test_account bob{'b'};
};

// -- repos --------------------------------------------------------------------

TEST_F(TablesTest, ARepoIsLoadedWithChainAndMember) {
  auto state = repos().load(alice.repo).value();
  EXPECT_FALSE(state.row);
  EXPECT_FALSE(state.chain);
  auto update = alice.appear();
  update.member = member_row{3, {"app.a.x"}};
  alice.accept(store.commit(update));
  alice.accept(store.commit(alice.commit({{"app.a.x/1", "one"}})));
  EXPECT_FALSE(repos().load(bob.repo).value().row);
  state = repos().load(alice.repo).value();
  EXPECT_EQ(state.row->status, repo_status::synced);
  EXPECT_EQ(state.chain->rev, alice.chain->rev);
  EXPECT_EQ(state.chain->streams.size(), 2u);
  EXPECT_EQ(state.member->collections.at(0), "app.a.x");
}

TEST_F(TablesTest, AChainIsNotWrittenWhenAStreamApartHasNoId) {
  const tests::fixed_names known{"app.test.note"};
  write_batch batch;
  const auto done
    = put_chain(alice.repo, tests::sample_chain(), nullptr, known, batch);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ec::not_found);
  EXPECT_EQ(done.error().context, "no id for the scope app.test.rare");
}

TEST_F(TablesTest, ReposAreFoundByStatusInTheOrderTheyAreDue) {
  for (char c = 'a'; c <= 'f'; ++c) {
    test_account one{c};
    one.row.next_retry = 'z' - c;
    store.commit(one.appear(repo_status::error));
  }
  store.commit(test_account{'g'}.appear(repo_status::pending));
  const auto due
    = repos_with_status(one(), repo_status::error, 'z' - 'c').value();
  ASSERT_EQ(due.size(), 4u);
  EXPECT_EQ(due.front().repo, test_account{'f'}.repo);
  EXPECT_EQ(due.back().repo, test_account{'c'}.repo);
  std::vector<std::string> paged;
  due_repo after;
  for (;;) {
    const auto page
      = repos_with_status(one(), repo_status::error, 1'000, after, 2).value();
    if (page.empty())
      break;
    EXPECT_LE(page.size(), 2u);
    for (const auto& x : page)
      paged.push_back(x.repo.str());
    after = page.back();
  }
  EXPECT_EQ(paged.size(), 6u);
  EXPECT_TRUE(
    repos_with_status(one(), repo_status::synced, 1'000).value().empty());
}

TEST_F(TablesTest, AllReposArePagedInOrder) {
  for (char c = 'a'; c <= 'e'; ++c)
    store.commit(test_account{c}.appear());
  std::vector<std::string> paged;
  atproto::did after;
  for (;;) {
    const auto page = page_of_repos(one(), after, 2).value();
    if (page.empty())
      break;
    for (const auto& [did, row] : page)
      paged.push_back(did.str());
    after = page.back().first;
  }
  EXPECT_EQ(paged.size(), 5u);
  EXPECT_TRUE(std::is_sorted(paged.begin(), paged.end()));
}

TEST_F(TablesTest, HoldersOfACollectionComeAndGo) {
  for (auto* who : {&alice, &bob})
    who->accept(store.commit(who->commit({{"app.a.x/1", "one"}})));
  EXPECT_EQ(store.holders("app.a.x"), (std::vector{alice.repo, bob.repo}));
  alice.accept(store.commit(alice.commit({{"app.a.x/1", ""}})));
  EXPECT_EQ(store.holders("app.a.x"), std::vector{bob.repo});
}

TEST_F(TablesTest, WaitingFramesAreReadInTheOrderTheyCameWithTheirStamps) {
  auto update = alice.appear(repo_status::syncing);
  for (const uint8_t n : {uint8_t{9}, uint8_t{7}, uint8_t{8}}) {
    atproto::stamped_frame frame;
    frame.at = {3, 2, 100u + n};
    frame.first_cursor = 50;
    frame.relay = n == 7;
    frame.bytes = shared_bytes{bytes{n}};
    update.buffer_put.push_back({n, frame});
  }
  store.commit(update);
  const auto all = repos().buffered(alice.repo, 0).value();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].number, 7u);
  EXPECT_EQ(all[0].frame.at, (position{3, 2, 107}));
  EXPECT_EQ(all[0].frame.first_cursor, 50u);
  EXPECT_TRUE(all[0].frame.relay);
  EXPECT_FALSE(all[1].frame.relay);
  EXPECT_EQ(all[0].frame.repo, alice.repo);
  EXPECT_EQ(all[0].frame.bytes.view()[0], 7u);
  const auto rest = repos().buffered(alice.repo, 7, 1).value();
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].number, 8u);
}

// -- rows beside the updates --------------------------------------------------

TEST_F(TablesTest, UpstreamsAndListingsAreKept) {
  journal_batch group;
  group.upstreams.push_back(
    {2, "wss://two.test", false, 3, 50, 4, true});
  group.upstreams.push_back(
    {1, "wss://one.test", true, 1, 9, 1, false});
  const listing_row all{"cursor", false, {1, 1, 1}};
  const listing_row some{"", true, {}};
  group.listings.push_back({1, "", all});
  group.listings.push_back({1, "app.a.x", some});
  store.commit(std::move(group));
  store.reopen();
  const auto rows = load_upstreams(*store.db).value();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].url, "wss://one.test");
  EXPECT_EQ(rows[1].cursor, 50u);
  EXPECT_EQ(load_listing(*store.db, *store.names, 1).value(), all);
  EXPECT_EQ(load_listing(*store.db, *store.names, 1, "app.a.x").value(), some);
  EXPECT_FALSE(load_listing(*store.db, *store.names, 1, "app.b.y").value());
  EXPECT_FALSE(load_listing(*store.db, *store.names, 2).value());
}

TEST_F(TablesTest, IdentitiesAreKept) {
  journal_batch group;
  group.identities.emplace_back(
    alice.repo, identity_row{"zKey", "https://pds.test", "alice.test",
                             "alice.test", 5, false});
  store.commit(std::move(group));
  EXPECT_FALSE(load_identity(*store.db, bob.repo).value());
  EXPECT_EQ(load_identity(*store.db, alice.repo).value()->signing_key, "zKey");
}

// What is listed is removed, and so a damaged row must be listed as well.
TEST_F(TablesTest, ADamagedRowOfTheExportIsListedToo) {
  journal_batch group;
  for (const auto* who : {&alice, &bob})
    group.exported.emplace_back(who->repo, identity_row{});
  store.commit(std::move(group));
  store.put_raw(encode_key(exported_key{alice.repo}), "\xff");
  EXPECT_FALSE(load_exported(*store.db, alice.repo));
  EXPECT_EQ(list_exported(*store.db, 10).value(),
            (std::vector{alice.repo, bob.repo}));
  EXPECT_EQ(list_exported(*store.db, 1).value(), std::vector{alice.repo});
}

TEST_F(TablesTest, ConsumersKeepPositionRangesAndDeadLetters) {
  alice.accept(store.commit(alice.appear()));
  alice.accept(store.commit(alice.commit({{"app.a.x/1", "one"}})));
  for (int i = 0; i < 10; ++i)
    alice.accept(
      store.commit(alice.commit({{"app.a.x/n" + std::to_string(i), "more"}})));
  journal_batch group;
  consumer_change tap;
  tap.name = "tap";
  tap.row = consumer_row{{3}, store.db->log_identity(), false, 3, 1};
  tap.acked = {{5, 6}, {8, 9}};
  tap.dead_letters = {{6, {20, "no answer", 99}}};
  group.consumers.push_back(tap);
  store.commit(std::move(group));
  EXPECT_EQ(store.findings(), "");

  tap = {};
  tap.name = "tap";
  tap.row = consumer_row{{6}, store.db->log_identity(), false, 5, 1};
  tap.acked_gone = {5};
  tap.acked = {{8, 11}};
  tap.dead_letters_gone = {6};
  tap.dead_letters = {{11, {20, "no answer", 99}}};
  group = {};
  group.consumers.push_back(tap);
  store.commit(std::move(group));
  store.reopen();
  const consumer_name name{default_dataset, "tap"};
  const auto state = load_consumer(*store.db, name, 0).value();
  EXPECT_EQ(state->row.position(0), 6u);
  EXPECT_EQ(state->row.settled, 5u);
  EXPECT_EQ(state->row.dead_letters, 1u);
  ASSERT_EQ(state->acked.size(), 1u);
  EXPECT_EQ(state->acked[0].first, 8u);
  EXPECT_EQ(state->acked[0].last, 11u);
  const auto dead = load_dead_letters(*store.db, name, 0).value();
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_EQ(dead[0].first, 11u);
  EXPECT_FALSE(load_consumer(*store.db, {default_dataset, "ta"}, 0).value());
  EXPECT_EQ(store.findings(), "");
}

TEST_F(TablesTest, AConsumerLoadsUpToItsLimitOfRanges) {
  write_batch rows;
  rows.put(encode_key(consumer_key{default_dataset, "tap"}),
           encode_value(consumer_row{}));
  for (size_t i = 1; i <= limits::consumer_ranges_max; ++i)
    rows.put(encode_key(acked_key{default_dataset, "tap", 0, 2 * i}),
             encode_value(counter{2 * i}));
  ASSERT_TRUE(store.db->write(rows, sync_mode::durable));
  const consumer_name name{default_dataset, "tap"};
  EXPECT_EQ(load_consumer(*store.db, name, 0).value()->acked.size(),
            limits::consumer_ranges_max);
  store.put_raw(encode_key(acked_key{default_dataset, "tap", 0, 1}),
                encode_value(counter{1}));
  EXPECT_EQ(load_consumer(*store.db, name, 0).error().code, ec::limit_reached);
}

TEST_F(TablesTest, SettingsAreKeptAndTakenBack) {
  journal_batch group;
  group.configuration.push_back({default_dataset, "b", bytes{2}});
  group.configuration.push_back({default_dataset, "a", bytes{1}});
  store.commit(std::move(group));
  group = {};
  group.configuration.push_back({default_dataset, "b", std::nullopt});
  store.commit(std::move(group));
  const auto has = [&](const char* name) {
    const auto key = encode_key(configuration_key{default_dataset, name});
    return store.db->get(key).value().has_value();
  };
  EXPECT_TRUE(has("a"));
  EXPECT_FALSE(has("b"));
}

// completeness.md, The terms: the generation survives the process
TEST_F(TablesTest, TheFilterIsKeptFromOneStartToTheNext) {
  EXPECT_EQ(load_filter(*store.db).value(), std::nullopt);
  for (const auto& x :
       {filter_row{1, {}}, filter_row{2, {"app.test.*", "app.test.note"}}}) {
    journal_batch group;
    group.configuration.push_back(filter_change(x));
    store.commit(std::move(group));
    store.reopen();
    EXPECT_EQ(load_filter(*store.db).value(), x);
  }
  journal_batch group;
  group.configuration.push_back({default_dataset, filter_setting, bytes{1}});
  store.commit(std::move(group));
  EXPECT_EQ(load_filter(*store.db).error().code, ec::storage_failure);
}

TEST_F(TablesTest, ReceiptsCarryTheEpochOfTheStore) {
  const auto epoch = store.db->store_epoch();
  EXPECT_EQ(store.commit(bob.appear()).store_epoch, epoch);
  store.reopen();
  EXPECT_NE(store.commit(test_account{'c'}.appear()).store_epoch, epoch);
}

TEST_F(TablesTest, CollectionIdsAreGivenOnceAndKept) {
  alice.accept(
    store.commit(alice.commit({{"app.a.x/1", "one"}, {"app.b.y/1", "two"}})));
  const auto id = store.names->id_of("app.b.y");
  store.reopen();
  EXPECT_EQ(store.names->id_of("app.b.y"), id);
  EXPECT_EQ(store.names->name_of(*id), "app.b.y");
  bob.accept(store.commit(bob.commit({{"app.b.y/1", "two"}})));
  EXPECT_EQ(store.names->size(), 2u);
  EXPECT_FALSE(store.names->name_of(*id + 1));
  EXPECT_FALSE(store.names->name_of(first_collection_id - 1));
}

} // namespace
} // namespace weir::storage
