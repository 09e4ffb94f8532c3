#include "actors/sweeper/limits.hpp"
#include "storage/format/account_fact.hpp"
#include "storage/log/erasure.hpp"
#include "storage/log/limits.hpp"
#include "storage/log/log_reader.hpp"
#include "storage/tables/head_cursor.hpp"
#include "storage/tables/repo_table.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

// Erasing: storage-format.md 5.1; architecture.md I8.

namespace weir::storage {
namespace {

using tests::change;
using tests::numbered;
using tests::test_account;
using tests::test_store;

class ErasureTest : public testing::Test {
protected:
  void SetUp() override {
    apply(alice.appear());
    apply(alice.commit(
      {{"app.a.x/1", "one"}, {"app.a.x/2", large}, {"app.b.y/1", "three"}}));
    apply(alice.commit({{"app.a.x/1", "four"}, {"app.b.y/2", large + "2"}}));
  }

  update_receipt apply(repo_update update) {
    auto receipt = store.commit(std::move(update));
    alice.accept(receipt);
    return receipt;
  }

  size_t erase_all(size_t rows_max) {
    for (size_t steps = 1;; ++steps) {
      EXPECT_EQ(store.findings(), "");
      const auto more = store.writer->erase_step(alice.repo, rows_max);
      EXPECT_TRUE(more) << to_string(more.error());
      if (!more || !*more) {
        EXPECT_EQ(store.findings(), "");
        EXPECT_TRUE(
          store.writer->end_erasure(alice.repo, alice.chain->erased_through));
        return steps;
      }
      if (steps % 2 == 0)
        store.reopen();
    }
  }

  size_t rows_in(const key_range& range) {
    size_t out = 0;
    for (auto rows = store.db->scan(range); rows.valid(); rows.next())
      ++out;
    return out;
  }

  bool is_on_disk(const std::string& text) const {
    const auto names = store.disk.names();
    return std::any_of(names.begin(), names.end(), [&](const auto& name) {
      return store.disk.read(name).find(text) != std::string::npos;
    });
  }

  std::vector<std::string> paths() {
    head_cursor heads{*store.db, *store.names, 0, alice.repo, *alice.chain};
    std::vector<std::string> out;
    for (const auto& head : heads.next().value())
      out.push_back(head.path());
    return out;
  }

  const std::string large = std::string(limits::inline_refs_min + 1, 'x');
  test_store store;
  test_account alice{'a'};
};

TEST_F(ErasureTest, NothingOfTheRepoIsThereFromTheFirstMoment) {
  const auto receipt = apply(alice.erase());
  EXPECT_EQ(receipt.erased_through, 7u);
  EXPECT_EQ(receipt.first, 8u) << "the account operation keeps its own id";
  EXPECT_FALSE(receipt.chain->data.defined());
  EXPECT_EQ(receipt.chain->record_count, 0u);
  EXPECT_EQ(receipt.chain->commit_revision(), 2u) << "streams go on";
  EXPECT_TRUE(paths().empty());
  EXPECT_TRUE(store.holders("app.a.x").empty());
  const repo_table repos{*store.db, *store.names};
  EXPECT_EQ(repos.load(alice.repo)->row->erased_through, 7u);
  EXPECT_EQ(store.findings(), "");
}

TEST_F(ErasureTest, StepsAreBoundedAndGoOnAfterARestart) {
  apply(alice.erase());
  ASSERT_EQ(open_erasures(*store.db, {}).value().size(), 1u);
  EXPECT_EQ(open_erasures(*store.db, {}).value()[0].repo, alice.repo);
  EXPECT_GT(erase_all(1), 4u);
  EXPECT_EQ(rows_in(range_of<record_head_key>()), 0u);
  EXPECT_EQ(rows_in(range_of<content_reference_key>()), 0u);
  EXPECT_EQ(rows_in(range_of<content_block_key>()), 1u)
    << "only the account's own fact is left";
  EXPECT_EQ(rows_in(range_of<erasure_key>()), 0u);
  EXPECT_EQ(rows_in(range_of<collection_member_key>()), 0u);
  EXPECT_TRUE(open_erasures(*store.db, {}).value().empty());
  EXPECT_EQ(store.findings(), "");
}

TEST_F(ErasureTest, TheLogKeepsItsEnvelopesWithoutContent) {
  apply(alice.erase());
  erase_all(100);
  const log_reader log{*store.db, *store.names, 0};
  const auto entries = log.read(0, 100).value();
  ASSERT_EQ(entries.size(), 3u);
  for (const auto& op : entries[0]->ops) {
    EXPECT_TRUE(op.body.empty());
    EXPECT_NE(op.content, 0u);
  }
  EXPECT_EQ(as_text(entries[2]->ops[0].body.view()), fact_json(alice.row));
  EXPECT_TRUE(entries[0]->erased);
  EXPECT_TRUE(entries[1]->erased);
  EXPECT_FALSE(entries[2]->erased);
  EXPECT_EQ(entries[0]->ops[0].scope, "") << "nobody has that name any more";
  const auto found = log.find(1).value();
  ASSERT_NE(found, nullptr) << "though its collections have no names";
}

TEST_F(ErasureTest, AnErasedBlockOfDeletesOnlyIsKnownByItsStream) {
  apply(alice.appear(repo_status::syncing));
  apply(alice.chunk({{"app.a.x/1", ""}}));
  const auto first = alice.chain->find("app.a.x")->next_index;
  EXPECT_EQ(first, 4u);
  const auto id = store.writer->last_id();
  test_account bob{'b'};
  bob.accept(store.commit(bob.appear()));
  bob.accept(store.commit(bob.commit({{"app.a.x/1", "his"}})));
  const log_reader log{*store.db, *store.names, 0};
  EXPECT_FALSE(log.read(id - 1, id).value().front()->erased);
  apply(alice.erase());
  erase_all(100);
  const auto entry = log.read(id - 1, id).value().front();
  EXPECT_EQ(entry->ops[0].scope, "app.a.x") << "bob has it, too";
  EXPECT_TRUE(entry->erased);
}

TEST_F(ErasureTest, ARefetchMayStartAtOnceAndIsNotErased) {
  apply(alice.erase());
  apply(alice.appear(repo_status::syncing));
  apply(alice.chunk({{"app.a.x/2", large}, {"app.a.x/9", "new"}}));
  EXPECT_EQ(store.findings(), "");
  ASSERT_TRUE(store.writer->erase_step(alice.repo, 2));
  apply(alice.chunk({{"app.a.x/1", "again"}, {"app.c.z/1", large}}));
  apply(alice.finish());
  erase_all(1);
  EXPECT_EQ(paths(), (std::vector<std::string>{"app.a.x/1", "app.a.x/2",
                                               "app.a.x/9", "app.c.z/1"}));
  EXPECT_EQ(rows_in(range_of<content_reference_key>()), 2u);
  EXPECT_EQ(alice.chain->record_count, 4u);
  EXPECT_EQ(store.findings(), "");
}

TEST_F(ErasureTest, ASecondErasureTakesOverTheFirst) {
  apply(alice.erase());
  ASSERT_TRUE(store.writer->erase_step(alice.repo, 2));
  apply(alice.appear(repo_status::syncing));
  apply(alice.chunk({{"app.a.x/1", "again"}, {"app.c.z/1", large}}));
  apply(alice.erase());
  erase_all(2);
  EXPECT_EQ(rows_in(range_of<record_head_key>()), 0u);
  EXPECT_EQ(rows_in(range_of<content_reference_key>()), 0u);
}

TEST_F(ErasureTest, TheEndOfAnEarlierErasureDoesNotEndALaterOne) {
  const auto key = encode_key(erasure_key{alice.repo});
  const auto erase_rows = [&] {
    while (store.writer->erase_step(alice.repo).value()) {
      // nop
    }
  };
  apply(alice.erase());
  const auto first = alice.chain->erased_through;
  erase_rows();
  apply(alice.appear(repo_status::syncing));
  apply(alice.chunk({{"app.a.x/1", "again"}}));
  apply(alice.erase());
  const auto second = alice.chain->erased_through;
  ASSERT_LT(first, second);
  const auto begun = store.get_raw(key);
  EXPECT_FALSE(store.writer->end_erasure(alice.repo, second).value());
  EXPECT_EQ(store.get_raw(key), begun) << "its rows are not erased yet";
  erase_rows();
  const auto waits = store.get_raw(key);
  EXPECT_FALSE(store.writer->end_erasure(alice.repo, first).value());
  EXPECT_EQ(store.get_raw(key), waits);
  EXPECT_TRUE(store.writer->end_erasure(alice.repo, second));
  EXPECT_EQ(rows_in(range_of<erasure_key>()), 0u);
}

TEST_F(ErasureTest, AForgottenRepoThatComesBackSeesNothingOld) {
  apply(alice.forget());
  const repo_table repos{*store.db, *store.names};
  auto state = repos.load(alice.repo).value();
  EXPECT_FALSE(state.row);
  EXPECT_EQ(store.findings(), "");
  alice.chain = state.chain;
  apply(alice.appear(repo_status::syncing));
  EXPECT_EQ(repos.load(alice.repo)->row->erased_through, 7u);
  EXPECT_TRUE(paths().empty());
  apply(alice.chunk({{"app.a.x/1", "again"}}));
  apply(alice.finish());
  erase_all(3);
  EXPECT_EQ(paths(), std::vector<std::string>{"app.a.x/1"});
}

TEST_F(ErasureTest, ARepoWithoutHistoryNeedsNoErasing) {
  test_account empty{'e'};
  empty.accept(store.commit(empty.appear()));
  empty.accept(store.commit(empty.forget()));
  EXPECT_EQ(rows_in(range_of<erasure_key>()), 0u);
  EXPECT_EQ(rows_in(range_of<chain_key>()), 1u) << "that of the other repo";
  EXPECT_FALSE(store.writer->erase_step(empty.repo).value());
  empty.chain = nullptr;
  empty.accept(store.commit(empty.appear()));
  EXPECT_EQ(store.findings(), "");
}

// limits::sweep_repos_max of each kind.
TEST_F(ErasureTest, WhatWaitsForItsCompactionHidesNobodyElse) {
  write_batch rows;
  const auto put = [&rows](const std::string& name, erasure_stage stage) {
    rows.put(encode_key(erasure_key{atproto::did::trusted("did:web:" + name)}),
             encode_value(erasure_row{1, stage, {}, {}}));
  };
  for (size_t i = 0; i <= limits::sweep_repos_max; ++i) {
    put(numbered("a", i), erasure_stage::compact);
    put(numbered("b", i), erasure_stage::heads);
  }
  ASSERT_TRUE(store.db->write(rows, sync_mode::relaxed));
  const auto found
    = erasures_to_sweep(*store.db, limits::sweep_repos_max).value();
  EXPECT_EQ(found.size(), 2 * limits::sweep_repos_max);
  EXPECT_EQ(std::count_if(found.begin(), found.end(),
                          [](const open_erasure& x) {
                            return x.row.stage == erasure_stage::heads;
                          }),
            static_cast<std::ptrdiff_t>(limits::sweep_repos_max));
}

// limits::compaction_slice_bytes: no compaction reads much more.
TEST_F(ErasureTest, ContentIsCompactedInSlices) {
  const auto random = seeded_random(5);
  for (int i = 0; i < 32; ++i) {
    std::string body;
    while (body.size() < 8'192)
      body += static_cast<char>(random->below(256));
    apply(alice.commit({{numbered("app.a.x/", 100 + static_cast<size_t>(i)),
                         body}}));
  }
  const auto last = store.writer->last_id();
  EXPECT_EQ(
    compact_content(*store.db, 0, {1, last}, limits::compaction_slice_bytes)
      .value()
      .next,
    0u);
  const auto bytes
    = store.db->approximate_bytes(range_of<content_block_key>());
  ASSERT_GT(bytes, 200'000u);
  EXPECT_EQ(compact_content(*store.db, 0, {1, last}, bytes).value().next,
            0u);
  size_t slices = 1;
  for (op_id next = 1;; ++slices) {
    const auto rest = compact_content(*store.db, 0, {next, last}, bytes / 4).value().next;
    if (rest == 0)
      break;
    EXPECT_GT(rest, next);
    next = rest;
  }
  EXPECT_GE(slices, 4u);
  EXPECT_EQ(store.findings(), "");
}

// SYNC-30; storage-format.md 3.5.
TEST_F(ErasureTest, WhatARepoSaidIsInNoFileAfterItsCompactions) {
  const auto said = "{\"text\":\"" + numbered("zqxjkv", 97) + "\"}";
  const auto waited = numbered("vkjxqz", 79);
  apply(alice.commit({{"app.a.x/7", said}}));
  auto update = alice.appear();
  update.buffer_put.push_back({1, {}});
  const auto view = as_bytes(waited);
  update.buffer_put.back().frame.bytes
    = shared_bytes{bytes{view.begin(), view.end()}};
  apply(std::move(update));
  ASSERT_TRUE(is_on_disk(said));
  ASSERT_TRUE(is_on_disk(waited));
  apply(alice.forget());
  while (store.writer->erase_step(alice.repo).value()) {
    // nop
  }
  const auto row = open_erasures(*store.db, {}).value().front().row;
  ASSERT_FALSE(row.content.empty());
  for (const auto& span : row.content)
    EXPECT_TRUE(compact_content(*store.db, 0, span,
                                limits::compaction_slice_bytes)
                  .value()
                  .gone);
  EXPECT_FALSE(is_on_disk(said));
  EXPECT_TRUE(compact_waiting(*store.db, alice.repo, alice.repo).value().gone);
  EXPECT_FALSE(is_on_disk(waited));
}

// limits::erasure_spans_max
TEST_F(ErasureTest, OnlyThePlacesOfARepoAreCompacted) {
  const auto span = [](op_id i) { return content_span{i * i, i * i}; };
  std::vector<content_span> all;
  for (op_id i = limits::erasure_spans_max + 1; i > 1; --i)
    add_span(all, span(i), limits::erasure_spans_max);
  EXPECT_EQ(all.size(), limits::erasure_spans_max);
  EXPECT_EQ(all.front(), span(2));
  add_span(all, {1, 1}, limits::erasure_spans_max);
  EXPECT_EQ(all.size(), limits::erasure_spans_max);
  EXPECT_EQ(all.front(), (content_span{1, 4})) << "the two that are closest";
  add_span(all, {5, 8}, limits::erasure_spans_max);
  EXPECT_EQ(all.front(), (content_span{1, 9})) << "it touches both";
  add_span(all, {2, 3}, limits::erasure_spans_max);
  EXPECT_EQ(all.front(), (content_span{1, 9}));
  EXPECT_TRUE(are_apart(all));
  EXPECT_FALSE(are_apart({{3, 4}, {4, 5}}));
  EXPECT_FALSE(are_apart({{3, 2}}));
  EXPECT_FALSE(are_apart({{0, 2}}));
}

// The newest content is gone, but its numbers are not used again.
TEST_F(ErasureTest, ContentNumbersAreNotUsedAgainAfterARestart) {
  test_account bob{'b'};
  apply(alice.forget());
  while (store.writer->erase_step(alice.repo).value()) {
    // nop
  }
  EXPECT_EQ(rows_in(range_of<content_block_key>()), 0u);
  store.reopen();
  const auto receipt = store.commit(bob.commit({{"app.a.x/1", "mine"}}));
  EXPECT_EQ(receipt.first, 8u);
  const log_reader log{*store.db, *store.names, 0};
  const auto old = log.read(0, 7).value();
  for (const auto& entry : old)
    for (const auto& op : entry->ops)
      EXPECT_TRUE(op.body.empty());
}

} // namespace
} // namespace weir::storage
