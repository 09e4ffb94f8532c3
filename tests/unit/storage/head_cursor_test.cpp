#include "storage/tables/head_cursor.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

// Heads in tree order: storage-format.md 2 (rkeys of two kinds, each sorted),
// protocol-coverage.md 5.1.

namespace weir::storage {
namespace {

using tests::change;
using tests::test_account;
using tests::test_store;

class HeadCursorTest : public testing::Test {
protected:
  void SetUp() override { apply(alice.appear(repo_status::syncing)); }

  void apply(repo_update update) {
    alice.accept(store.commit(std::move(update)));
  }

  head_cursor cursor() {
    return {*store.db, *store.names, 0, alice.repo, *alice.chain};
  }

  std::vector<std::string> walk(head_cursor from, size_t limit) {
    std::vector<std::string> out;
    for (;;) {
      const auto page = from.next(limit);
      EXPECT_TRUE(page);
      if (!page || page->empty())
        return out;
      EXPECT_LE(page->size(), limit);
      for (const auto& head : *page)
        out.push_back(head.path());
    }
  }

  std::vector<std::string> expected(const std::string& after = {}) {
    std::vector<std::string> out;
    for (const auto& [path, body] : alice.records)
      if (path > after)
        out.push_back(path);
    return out;
  }

  test_store store;
  test_account alice{'a'};
};

// '-' and '.' sort before the '/' that ends a collection's name.
TEST_F(HeadCursorTest, CollectionsComeInTheOrderOfTheTree) {
  apply(alice.chunk({{"app.a.x/k", "1"},
                     {"app.a.x.y/k", "2"},
                     {"app.a.x-y.z/k", "3"},
                     {"app.a.xa/k", "4"},
                     {"app.a/k", "5"}}));
  EXPECT_EQ(walk(cursor(), 100),
            (std::vector<std::string>{"app.a.x-y.z/k", "app.a.x.y/k",
                                      "app.a.x/k", "app.a.xa/k", "app.a/k"}));
  EXPECT_EQ(walk(cursor(), 100), expected());
}

TEST_F(HeadCursorTest, TimeKeysAndOtherKeysAreMerged) {
  apply(alice.chunk({{"app.a.x/3jzfcijpj2z2a", "1"},
                     {"app.a.x/3jzfcijpj2z2b", "2"},
                     {"app.a.x/3jzfcijpj2z2aa", "3"},
                     {"app.a.x/3jzfcijpj2z2", "4"},
                     {"app.a.x/2222222222222", "5"},
                     {"app.a.x/jzzzzzzzzzzzz", "6"},
                     {"app.a.x/jzzzzzzzzzzzzz", "7"},
                     {"app.a.x/self", "8"},
                     {"app.a.x/-", "9"}}));
  EXPECT_EQ(walk(cursor(), 100), expected());
}

TEST_F(HeadCursorTest, AnyPageSizeAndAnyStartGiveTheSameWalk) {
  const auto dice = seeded_random(5);
  for (size_t round = 0; round < 6; ++round) {
    std::vector<change> changes;
    for (size_t i = 0; i < 40; ++i) {
      const auto rkey = dice->below(2) == 0
                          ? atproto::tid{dice->next()}.str()
                          : std::to_string(dice->next() % 10'000);
      const auto path = "app.c" + std::to_string(dice->below(3)) + ".x/" + rkey;
      if (!alice.records.contains(path))
        changes.push_back({path, "r"});
    }
    apply(alice.chunk(changes));
  }
  for (const size_t limit : {1u, 2u, 7u, 1'000u})
    EXPECT_EQ(walk(cursor(), limit), expected());
  auto starts = expected();
  starts.insert(starts.end(), {"app.c1.x/", "app.c1.x/zzz", "app.b/1",
                               "zzz.a.b/1", "app.c1.x/jzzzzzzzzzzzz"});
  for (const auto& start : starts) {
    auto from = cursor();
    const auto parts = atproto::split_path(start);
    from.seek_after(parts.collection, parts.rkey);
    EXPECT_EQ(walk(std::move(from), 50), expected(start)) << start;
  }
}

TEST_F(HeadCursorTest, HeadsCarryAllThatAnEventNeeds) {
  apply(alice.chunk({{"app.a.x/1", "one"}}));
  auto from = cursor();
  const auto page = from.next().value();
  ASSERT_EQ(page.size(), 1u);
  EXPECT_EQ(page[0].collection, "app.a.x");
  EXPECT_EQ(page[0].rkey, "1");
  EXPECT_EQ(page[0].head.id, tests::cid_of("one"));
  EXPECT_EQ(page[0].head.op, 1u);
  EXPECT_EQ(page[0].head.content, 1u);
  EXPECT_EQ(page[0].head.rev, atproto::tid{alice.rev});
  EXPECT_TRUE(from.next().value().empty());
}

TEST_F(HeadCursorTest, OtherReposAreNotSeen) {
  test_account bob{'b'};
  bob.accept(store.commit(bob.commit({{"app.a.x/bob", "r"}})));
  apply(alice.chunk({{"app.a.x/alice", "r"}}));
  EXPECT_EQ(walk(cursor(), 10), expected());
}

} // namespace
} // namespace weir::storage
