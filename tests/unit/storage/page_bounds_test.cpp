#include "storage/disk/limits.hpp"
#include "storage/format/limits.hpp"
#include "storage/log/erasure.hpp"
#include "storage/log/limits.hpp"
#include "storage/log/repo_guards.hpp"
#include "storage/tables/consumer_table.hpp"
#include "storage/tables/head_cursor.hpp"
#include "storage/tables/limits.hpp"
#include "storage/tables/repo_table.hpp"
#include "tests/unit/storage/committer_fixture.hpp"

#include <array>
#include <limits>

// Pages and steps have their default sizes: full at the limit, and one more row
// needs another.

namespace weir::storage {
namespace {

using tests::change;
using tests::numbered;
using tests::test_account;

class PageBoundsTest : public tests::committer_fixture {
protected:
  /// Adds valid rows of this number of repos, without a history.
  void put_repos(size_t count) {
    write_batch rows;
    repo_row row;
    for (size_t i = 0; i < count; ++i) {
      const auto did = atproto::did::trusted(numbered("did:web:h", i));
      rows.put(encode_key(repo_key{did}), encode_value(row));
      rows.put(encode_key(repo_by_status_key{row.status, 0, did}), {});
      rows.put(encode_key(erasure_key{did}), encode_value(erasure_row{}));
    }
    ASSERT_TRUE(store.db->write(rows, sync_mode::durable));
  }

  /// Adds this number of alice's records, chunk by chunk.
  void put_records(size_t count) {
    apply(alice, alice.appear(repo_status::syncing));
    for (size_t i = 0; i < count; i += limits::transaction_ops_max) {
      std::vector<change> chunk;
      const auto end = std::min(count, i + limits::transaction_ops_max);
      for (size_t j = i; j < end; ++j)
        chunk.push_back({numbered("app.a.x/", j), "r"});
      apply(alice, alice.chunk(chunk));
    }
    apply(alice, alice.finish());
  }
};

TEST_F(PageBoundsTest, HeadsComeInPagesOfSoMany) {
  put_records(limits::heads_page_max + 1);
  head_cursor heads{*store.db, *store.names, 0, alice.repo, *alice.chain};
  EXPECT_EQ(heads.next().value().size(), limits::heads_page_max);
  EXPECT_EQ(heads.next().value().size(), 1u);
}

TEST_F(PageBoundsTest, ReposComeInPagesOfSoMany) {
  put_repos(limits::repos_page_max + 1);
  const std::array<const database*, 1> one{store.db.get()};
  const auto page = page_of_repos(one, {}).value();
  ASSERT_EQ(page.size(), limits::repos_page_max);
  EXPECT_EQ(page_of_repos(one, page.back().first).value().size(), 1u);
  constexpr auto all = std::numeric_limits<uint64_t>::max();
  const auto due = repos_with_status(one, repo_row{}.status, all).value();
  ASSERT_EQ(due.size(), limits::repos_page_max);
  EXPECT_EQ(repos_with_status(one, repo_row{}.status, all, due.back())
              .value()
              .size(),
            1u);
  const auto erased = open_erasures(*store.db, {}).value();
  ASSERT_EQ(erased.size(), limits::repos_page_max);
  EXPECT_EQ(open_erasures(*store.db, erased.back().repo).value().size(), 1u);
}

TEST_F(PageBoundsTest, DeadLettersComeInPagesOfSoMany) {
  write_batch rows;
  for (size_t i = 1; i <= limits::dead_letters_page_max + 1; ++i)
    rows.put(encode_key(dead_letter_key{default_dataset, "tap", 0, i}),
             encode_value(dead_letter_row{}));
  ASSERT_TRUE(store.db->write(rows, sync_mode::durable));
  const consumer_name tap{default_dataset, "tap"};
  const auto page = load_dead_letters(*store.db, tap, 0).value();
  ASSERT_EQ(page.size(), limits::dead_letters_page_max);
  EXPECT_EQ(
    load_dead_letters(*store.db, tap, 0, page.back().first).value().size(), 1u);
}

TEST_F(PageBoundsTest, OneStepOfErasingLooksAtSoManyRows) {
  constexpr auto more = size_t{10};
  put_records(limits::erase_step_rows_max + more);
  apply(alice, alice.erase());
  const auto heads = [&] {
    return rows_in(range_of<record_head_key>());
  };
  ASSERT_EQ(heads(), limits::erase_step_rows_max + more);
  ASSERT_TRUE(store.writer->erase_step(alice.repo));
  EXPECT_EQ(heads(), more);
  ASSERT_TRUE(store.writer->erase_step(alice.repo));
  EXPECT_EQ(heads(), 0u);
}

TEST(PageBounds, TheWriterRemembersSoManyReposAndNotOneMore) {
  const auto did = [](size_t i) {
    return atproto::did::trusted(numbered("did:web:h", i));
  };
  repo_guards guards;
  for (size_t i = 0; i < limits::repo_guards_max; ++i)
    guards.at(did(i)).commit_revision = 1;
  EXPECT_EQ(guards.size(), limits::repo_guards_max);
  EXPECT_EQ(guards.at(did(0)).commit_revision, 1u);
  guards.at(did(limits::repo_guards_max));
  EXPECT_EQ(guards.size(), limits::repo_guards_max);
  EXPECT_EQ(guards.at(did(1)).commit_revision, 0u) << "it was forgotten";
}

TEST_F(PageBoundsTest, ACheckKeepsSoManyFindingsAndCountsAll) {
  for (size_t i = 0; i <= limits::findings_max; ++i) {
    store.put_raw(numbered("\x7f of no table ", i), "value");
    if (i + 1 < limits::findings_max)
      continue;
    const auto report = verify_store(*store.db, {}).value();
    EXPECT_EQ(report.findings.size(), limits::findings_max);
    EXPECT_EQ(report.findings_total, i + 1);
  }
}

} // namespace
} // namespace weir::storage
