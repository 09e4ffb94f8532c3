#include "storage/format/limits.hpp"
#include "storage/log/limits.hpp"
#include "storage/tables/chain_table.hpp"
#include "storage/tables/limits.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

#include <gmock/gmock.h>

// Names of collections: the hosts to which they are charged, and when they are
// free again. Also chains of repos with many collections.

namespace weir::storage {
namespace {

using testing::HasSubstr;
using tests::change;
using tests::numbered;
using tests::test_account;
using tests::test_store;

class CollectionNamesTest : public testing::Test {
protected:
  /// Makes room for about this number of names.
  void make_room(size_t names) {
    store.names_bytes_max = names * 400;
    store.reopen();
  }

  void begin(test_account& who, const std::string& host) {
    who.row.pds = host;
    journal_batch group;
    group.identities.emplace_back(who.repo, identity_row{"zKey", host, {}, {}});
    store.commit(std::move(group));
    apply(who, who.appear(repo_status::syncing));
  }

  update_receipt apply(test_account& who, repo_update update) {
    auto receipt = store.commit(std::move(update));
    who.accept(receipt);
    return receipt;
  }

  update_receipt attempt(repo_update update) {
    journal_batch group;
    group.updates.push_back(std::move(update));
    return store.writer->commit(group)->receipts.front();
  }

  static std::vector<change> invent(const std::string& prefix, size_t n) {
    std::vector<change> out;
    for (size_t i = 0; i < n; ++i)
      out.push_back({numbered(prefix, i) + "/1", "r"});
    return out;
  }

  void sweep(const test_account& who) {
    while (store.writer->erase_step(who.repo, 7).value())
      EXPECT_EQ(store.findings(), "");
    EXPECT_TRUE(
      store.writer->end_erasure(who.repo, who.chain->erased_through));
    EXPECT_EQ(store.findings(), "");
  }

  test_store store;
  test_account alice{'a'};
  test_account bob{'b'};
  test_account carol{'c'};
};

TEST_F(CollectionNamesTest, WhoInventsTooManyIsRefusedAndNobodyElse) {
  make_room(1'000);
  begin(alice, "https://one.test");
  begin(bob, "https://two.test");
  const auto refused = attempt(alice.chunk(invent("app.n", 100)));
  EXPECT_EQ(refused.outcome, update_outcome::refused);
  EXPECT_THAT(refused.reason, HasSubstr("collections that no repo had before"));
  EXPECT_EQ(store.names->size(), 0u) << "nothing of it is kept";
  apply(bob, bob.chunk(invent("app.own", 5)));
  EXPECT_EQ(store.findings(), "");
}

TEST_F(CollectionNamesTest, ANameStaysTheShareOfWhoBeganIt) {
  make_room(1'000);
  begin(alice, "https://one.test");
  begin(bob, "https://two.test");
  apply(alice, alice.chunk(invent("app.n", 10)));
  const auto row = [&] {
    const auto id = *store.names->id_of(numbered("app.n", 3));
    const auto value = store.get_raw(encode_key(collection_name_key{id}));
    return decode_value<collection_row>(value).value();
  };
  const auto bytes = store.names->bytes();
  apply(bob, bob.chunk(invent("app.n", 10)));
  EXPECT_EQ(row().host, "https://one.test");
  EXPECT_EQ(row().repo, alice.repo.str());
  EXPECT_EQ(store.names->bytes(), bytes);
  store.reopen();
  EXPECT_EQ(store.names->bytes(), bytes);
  apply(alice, alice.forget());
  sweep(alice);
  EXPECT_EQ(store.names->bytes(), bytes) << "bob uses them";
  EXPECT_EQ(row().repo, alice.repo.str());
  apply(bob, bob.forget());
  sweep(bob);
  EXPECT_EQ(store.names->bytes(), 0u);
}

// Two hosts whose repos use each other's names in turn, as long as they are
// allowed to
TEST_F(CollectionNamesTest, HostsThatUseEachOthersNamesLeaveRoomForOthers) {
  make_room(1'000);
  begin(alice, "https://one.test");
  begin(bob, "https://two.test");
  begin(carol, "https://three.test");
  for (size_t i = 0;; ++i) {
    auto& first = i % 2 == 0 ? alice : bob;
    auto& second = i % 2 == 0 ? bob : alice;
    const std::vector<change> name{{numbered("app.n", i) + "/1", "r"}};
    auto receipt = attempt(first.chunk(name));
    if (receipt.outcome != update_outcome::done)
      break;
    first.accept(receipt);
    apply(second, second.chunk(name));
  }
  EXPECT_LT(store.names->bytes(), 2 * limits::names_host_floor + 400);
  apply(carol, carol.chunk(invent("app.own", 15)));
  EXPECT_EQ(store.findings(), "");
}

TEST_F(CollectionNamesTest, AnErasedRepoFreesTheNamesThatNobodyElseUses) {
  begin(alice, "https://one.test");
  begin(bob, "https://one.test");
  apply(alice, alice.chunk(invent("app.n", 40)));
  apply(bob, bob.chunk(invent("app.n", 1)));
  const auto shared = *store.names->id_of(numbered("app.n", 0));
  const auto freed = *store.names->id_of(numbered("app.n", 39));
  apply(alice, alice.forget());
  EXPECT_EQ(store.names->size(), 40u) << "its rows are still there";
  sweep(alice);
  EXPECT_EQ(store.names->size(), 1u);
  EXPECT_EQ(store.names->id_of(numbered("app.n", 0)), shared);
  EXPECT_FALSE(store.names->name_of(freed));
  EXPECT_TRUE(store.names->was_given(freed));
  store.reopen();
  EXPECT_EQ(store.names->size(), 1u);
  begin(carol, "https://two.test");
  apply(carol, carol.chunk({{numbered("app.n", 39) + "/1", "r"}}));
  EXPECT_GT(*store.names->id_of(numbered("app.n", 39)), freed)
    << "the log names the old one for ever";
  EXPECT_EQ(store.findings(), "");
}

TEST_F(CollectionNamesTest, ACollectionWithoutRecordsKeepsItsName) {
  begin(alice, "https://one.test");
  begin(bob, "https://one.test");
  apply(alice, alice.chunk({{"app.a.x/1", "r"}}));
  apply(bob, bob.chunk({{"app.a.x/1", "r"}}));
  apply(bob, bob.chunk({{"app.a.x/1", ""}}));
  apply(alice, alice.forget());
  sweep(alice);
  EXPECT_TRUE(store.names->id_of("app.a.x")) << "bob's history names it";
  apply(bob, bob.forget());
  sweep(bob);
  EXPECT_FALSE(store.names->id_of("app.a.x"));
}

TEST_F(CollectionNamesTest, ARepoThatComesBackWhileItIsErasedKeepsItsNames) {
  begin(alice, "https://one.test");
  apply(alice, alice.chunk(invent("app.n", 5)));
  apply(alice, alice.erase());
  apply(alice, alice.appear(repo_status::syncing));
  apply(alice, alice.chunk(invent("app.n", 2)));
  sweep(alice);
  EXPECT_EQ(store.names->size(), 2u);
  EXPECT_EQ(alice.chain->find(numbered("app.n", 0))->next_index, 2u)
    << "no index is used twice";
}

TEST_F(CollectionNamesTest, AListedCollectionKeepsItsName) {
  upstream_row upstream;
  upstream.id = 1;
  journal_batch group;
  group.upstreams.push_back(upstream);
  group.listings.push_back({1, "app.a.x", {"", true, {}}});
  store.commit(std::move(group));
  store.reopen();
  begin(alice, "https://one.test");
  apply(alice, alice.chunk({{"app.a.x/1", "r"}}));
  apply(alice, alice.forget());
  sweep(alice);
  EXPECT_TRUE(store.names->id_of("app.a.x"));
}

// -- chains -------------------------------------------------------------------

TEST_F(CollectionNamesTest, StreamsBeyondTheFirstHaveTheirOwnRows) {
  begin(alice, "https://one.test");
  apply(alice,
        alice.chunk(invent("app.n", limits::chain_streams_inline_max)));
  const auto rows = [&] {
    size_t out = 0;
    for (auto x = store.db->scan(range_of<chain_key>(alice.repo)); x.valid();
         x.next())
      ++out;
    return out;
  };
  EXPECT_EQ(rows(), 1u);
  apply(alice, alice.chunk({{"app.more/1", "r"}}));
  EXPECT_EQ(rows(), 2u);
  apply(alice, alice.finish());
  apply(alice, alice.commit({{"app.more/1", "s"}}));
  const auto chain
    = load_chain(*store.db, *store.names, alice.repo).value();
  ASSERT_EQ(chain->streams.size(), alice.chain->streams.size());
  EXPECT_EQ(chain->find("app.more")->hash, alice.chain->find("app.more")->hash);
  EXPECT_EQ(chain->find("app.more")->next_index, 2u);
  store.reopen();
  apply(alice, alice.commit({{"app.more/2", "t"}}));
  EXPECT_EQ(store.findings(), "");
  apply(alice, alice.erase());
  EXPECT_EQ(rows(), 1u);
}

// The bytes that a commit writes do not grow with what its repo ever had: one
// more row when its collection has a row of its own, and bytes within a limit.
TEST_F(CollectionNamesTest, ACommitWritesTheSameForOneAndForAThousand) {
  const auto written = [&](test_account& who) {
    const auto before = store.in_logs();
    apply(who, who.commit({{numbered("app.n", 0) + "/2", "small"}}));
    apply(who, who.commit({{who.records.rbegin()->first, "other"}}));
    const auto after = store.in_logs();
    EXPECT_LE(after.rows - before.rows, 2u * 6 + 1);
    return after.bytes - before.bytes;
  };
  begin(alice, "https://one.test");
  apply(alice, alice.chunk(invent("app.n", 1)));
  apply(alice, alice.finish());
  begin(bob, "https://two.test");
  const auto all = invent("app.n", limits::repo_streams_max - 1);
  for (size_t i = 0; i < all.size(); i += limits::transaction_ops_max)
    apply(bob, bob.chunk({all.begin() + static_cast<std::ptrdiff_t>(i),
                          all.begin()
                            + static_cast<std::ptrdiff_t>(std::min(
                              all.size(), i + limits::transaction_ops_max))}));
  apply(bob, bob.finish());
  const auto one = written(alice);
  const auto thousand = written(bob);
  // limits::chain_streams_inline_max streams of some 40 bytes, and one row.
  EXPECT_LE(thousand, one + 2 * 48 * (limits::chain_streams_inline_max + 1));
  EXPECT_LE(thousand, 3 * one);
  EXPECT_EQ(store.findings(), "");
}

} // namespace
} // namespace weir::storage
