#include "storage/log/content_reader.hpp"
#include "storage/log/log_reader.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

#include <algorithm>
#include <map>

// Readers of the log: architecture.md, The stages; OPLOG-15, OPLOG-22.

namespace weir::storage {
namespace {

using tests::change;
using tests::numbered;
using tests::test_account;
using tests::test_store;

class LogReaderTest : public testing::Test {
protected:
  void SetUp() override {
    for (size_t i = 0; i < accounts.size(); ++i)
      apply(i, accounts[i].appear());
    const auto dice = seeded_random(11);
    for (size_t n = 0; n < 60; ++n)
      step(*dice, n);
    last = store.writer->last_id();
  }

  void step(random_source& dice, size_t n) {
    const auto who = dice.below(accounts.size());
    std::vector<std::vector<change>> all(1 + dice.below(3));
    for (auto& changes : all)
      for (size_t k = dice.below(5) + 1; k > 0; --k)
        changes.push_back({numbered("app.c", dice.below(3)) + "/"
                             + std::to_string(n) + "-" + std::to_string(k) + "-"
                             + std::to_string(&changes - &all[0]),
                           std::string(1 + dice.below(900), 'r')});
    apply(who, accounts[who].commits(all));
  }

  void apply(size_t who, repo_update update) {
    accounts[who].accept(store.commit(std::move(update)));
  }

  log_reader reader() const { return {*store.db, *store.names, 0}; }

  test_store store;
  std::vector<test_account> accounts{test_account{'a'}, test_account{'b'},
                                     test_account{'c'}};
  op_id last = 0;
};

// A page with a hole would count as completely acked.
TEST_F(LogReaderTest, AMissingBlockIsAnErrorNeverAHole) {
  const auto entries = reader().read(0, last, {}).value();
  ASSERT_GT(entries.size(), 4u);
  const auto gone = entries[2]->first;
  write_batch batch;
  batch.erase(encode_key(log_block_key{0, gone}));
  ASSERT_TRUE(store.db->write(batch, sync_mode::durable));
  const auto read = reader().read(0, last, {});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ec::storage_failure);
  EXPECT_NE(read.error().context.find(std::to_string(gone)), std::string::npos);
  EXPECT_FALSE(reader().read(gone - 1, last, {})) << "at its place";
}

TEST_F(LogReaderTest, PagesGiveEveryOperationOnceInOrder) {
  op_id after = 0;
  size_t pages = 0;
  log_page page;
  page.ops_max = 10;
  while (after < last) {
    const auto entries = reader().read(after, last, page);
    ASSERT_TRUE(entries);
    ASSERT_FALSE(entries->empty());
    size_t ops = 0;
    for (const auto& entry : *entries) {
      EXPECT_EQ(entry->first, after + 1);
      after = entry->last();
      ops += entry->ops.size();
    }
    EXPECT_TRUE(ops <= page.ops_max || entries->size() == 1);
    ++pages;
  }
  EXPECT_EQ(after, last);
  EXPECT_GT(pages, 10u);
  EXPECT_TRUE(reader().read(last, last)->empty());
}

TEST_F(LogReaderTest, BytesBoundAPage) {
  log_page page;
  page.bytes_max = 4'000;
  const auto entries = reader().read(0, last, page).value();
  size_t bytes = 0;
  for (const auto& entry : entries)
    bytes += entry->bytes_held();
  EXPECT_LE(bytes, page.bytes_max);
  EXPECT_GT(entries.size(), 0u);
  page.bytes_max = 1;
  EXPECT_EQ(reader().read(0, last, page)->size(), 1u);
}

TEST_F(LogReaderTest, WhatTheReaderGivesIsWhatTheWriterGave) {
  auto update = accounts[0].commit({{"app.c000001/x", "body of x"},
                                    {"app.c000001/u", "no record", true},
                                    {"app.c000001/x", ""}});
  journal_batch group;
  group.updates.push_back(update);
  const auto out = store.commit(std::move(group));
  const auto& given = *out.entries.at(0);
  const auto read = reader().read(given.first - 1, out.last).value();
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0]->first, given.first);
  EXPECT_EQ(read[0]->repo, given.repo);
  EXPECT_EQ(read[0]->rev, given.rev);
  EXPECT_EQ(read[0]->from, given.from);
  EXPECT_EQ(read[0]->live, given.live);
  EXPECT_EQ(read[0]->job, given.job);
  EXPECT_EQ(read[0]->time_us, given.time_us);
  EXPECT_EQ(read[0]->written_us, given.written_us);
  ASSERT_EQ(read[0]->ops.size(), given.ops.size());
  for (size_t i = 0; i < given.ops.size(); ++i) {
    const auto& x = read[0]->ops[i];
    const auto& y = given.ops[i];
    EXPECT_EQ(x.scope, y.scope);
    EXPECT_EQ(x.index, y.index);
    EXPECT_EQ(x.action, y.action);
    EXPECT_EQ(x.rkey, y.rkey);
    EXPECT_EQ(x.id, y.id);
    EXPECT_EQ(x.skip, y.skip);
    EXPECT_EQ(x.content, y.content);
    EXPECT_EQ(x.undecodable, y.undecodable);
    EXPECT_EQ(as_text(x.body.view()), as_text(y.body.view()));
  }
}

TEST_F(LogReaderTest, FromInsideATransactionTheWholeOfItComes) {
  const auto all = reader().read(0, last, {1'000, 10'000'000}).value();
  const auto& wide = **std::find_if(all.begin(), all.end(), [](auto& x) {
    return x->ops.size() > 3;
  });
  const auto entries = reader().read(wide.first + 1, last).value();
  ASSERT_FALSE(entries.empty());
  EXPECT_EQ(entries[0]->first, wide.first);
  EXPECT_EQ(reader().find(wide.first + 2).value()->first, wide.first);
  EXPECT_FALSE(reader().find(last + 1).value());
}

TEST_F(LogReaderTest, NothingBeyondDurableIsRead) {
  const auto all = reader().read(0, last, {1'000, 10'000'000}).value();
  const auto& second = *all.at(1);
  EXPECT_EQ(reader().read(0, second.last()).value().back()->last(),
            second.last());
  EXPECT_EQ(reader().read(0, second.last() - 1).value().back()->last(),
            all.at(0)->last());
}

TEST_F(LogReaderTest, WithoutContentNoBodyIsRead) {
  log_page page;
  page.with_content = false;
  const auto before = store.db->counters();
  for (const auto& entry : reader().read(0, last, page).value())
    for (const auto& op : entry->ops)
      EXPECT_TRUE(op.body.empty());
  EXPECT_EQ(store.db->counters().scans - before.scans, 1u);
}

// Only trimming may remove it, which says so in a row.
TEST_F(LogReaderTest, WhatIsGoneIsAClearError) {
  store.erase_raw(encode_key(log_block_key{0, 1}));
  const auto read = reader().read(0, last);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ec::storage_failure);
  EXPECT_NE(read.error().context.find("no operation 1"), std::string::npos);
}

TEST_F(LogReaderTest, DamageIsAnErrorNeverAWrongEntry) {
  const auto key = encode_key(log_block_key{0, 1});
  const auto good = store.get_raw(key);
  for (size_t i = 0; i < good.size(); ++i) {
    auto bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    store.put_raw(key, bad);
    const auto entries = reader().read(0, last);
    ASSERT_FALSE(entries) << "byte " << i;
    EXPECT_EQ(entries.error().code, ec::storage_failure);
  }
}

TEST_F(LogReaderTest, DamagedContentIsAnErrorNeverAWrongBody) {
  const auto first = reader().read(0, last).value().at(0)->first;
  const auto key = encode_key(content_block_key{0, first});
  auto bad = store.get_raw(key);
  bad.back() = static_cast<char>(bad.back() ^ 1);
  store.put_raw(key, bad);
  EXPECT_EQ(reader().read(0, last).error().code, ec::storage_failure);
}

// A parked DID catches up with these reads.
TEST_F(LogReaderTest, OneRepoIsReadAsTheLogHasIt) {
  const auto all = reader().read(0, last, {100'000, 100'000'000}).value();
  for (const auto& who : accounts) {
    std::vector<op_id> expected;
    for (const auto& entry : all)
      if (entry->repo == who.repo)
        expected.push_back(entry->first);
    for (const size_t ops_max : {1u, 7u, 40u, 100'000u}) {
      std::vector<op_id> found;
      log_page page;
      page.ops_max = ops_max;
      for (op_id after = 0;;) {
        const auto entries
          = reader().read_repo(who.repo, *who.chain, after, last, page).value();
        if (entries.empty())
          break;
        for (const auto& entry : entries) {
          found.push_back(entry->first);
          EXPECT_FALSE(entry->ops.back().body.empty());
        }
        after = entries.back()->last();
      }
      EXPECT_EQ(found, expected) << ops_max << " operations a page";
    }
  }
}

TEST_F(LogReaderTest, OneRepoIsReadFromAnyId) {
  const auto& who = accounts[1];
  const auto all = reader().read(0, last, {100'000, 100'000'000}).value();
  for (op_id after = 0; after <= last; ++after) {
    const auto entries
      = reader().read_repo(who.repo, *who.chain, after, last).value();
    const auto next = std::find_if(all.begin(), all.end(), [&](auto& x) {
      return x->repo == who.repo && x->last() > after;
    });
    if (next == all.end())
      EXPECT_TRUE(entries.empty());
    else
      EXPECT_EQ(entries.at(0)->first, (*next)->first) << after;
  }
}

TEST_F(LogReaderTest, OneRepoIsNotReadOverAMissingBlock) {
  const auto& who = accounts[1];
  const auto whole = reader().read_repo(who.repo, *who.chain, 0, last).value();
  ASSERT_GT(whole.size(), 2u);
  store.erase_raw(encode_key(log_block_key{0, whole[1]->first}));
  const auto read = reader().read_repo(who.repo, *who.chain, 0, last);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ec::storage_failure);
  EXPECT_NE(read.error().context.find(std::to_string(whole[1]->first)),
            std::string::npos);
}

TEST_F(LogReaderTest, ScopesWithoutANameAreAnErrorNeverAnotherScope) {
  const test_store other; // Its table of collections is empty.
  const log_reader lost{*store.db, *other.names, 0};
  const auto& who = accounts[1];
  EXPECT_EQ(lost.read(0, last).error().code, ec::storage_failure);
  EXPECT_EQ(lost.read_repo(who.repo, *who.chain, 0, last).error().code,
            ec::storage_failure);
  EXPECT_EQ(lost.find(last).error().code, ec::storage_failure);
}

TEST_F(LogReaderTest, ManyNumbersOfOneBlockCostOneRead) {
  std::vector<change> changes;
  for (size_t i = 0; i < 100; ++i)
    changes.push_back({numbered("app.c000001/many", i), "r"});
  apply(0, accounts[0].commit(changes));
  content_reader contents{*store.db, 0};
  const auto before = store.db->counters();
  for (op_id id = last + 1; id <= last + 100; ++id)
    EXPECT_EQ(as_text(contents.read_one(id).value().view()), "r");
  EXPECT_EQ(store.db->counters().scans - before.scans, 1u);
}


// OPLOG-22, OPLOG-30: also when writers used an outdated state
TEST_F(LogReaderTest, AnIndexIsInItsStreamOnceAndNoneIsLeftOut) {
  for (size_t i = 0; i < accounts.size(); ++i) {
    auto twin = accounts[i];
    apply(i, accounts[i].commit({{"app.c000000/first", "one"}}));
    journal_batch late;
    late.updates.push_back(twin.commit({{"app.c000000/second", "two"}}));
    const auto out = store.writer->commit(late);
    ASSERT_TRUE(out);
    EXPECT_EQ(out->receipts.at(0).outcome, update_outcome::mismatch);
  }
  std::map<std::pair<std::string, std::string>, uint64_t> next;
  op_id id = 0;
  const auto end = store.writer->last_id();
  for (const auto& entry : reader().read(0, end, {1'000'000, 1'000'000'000}).value()) {
    EXPECT_EQ(entry->first, id + 1);
    id = entry->last();
    for (const auto& op : entry->ops) {
      auto& index = next[{entry->repo.str(), op.scope}];
      EXPECT_EQ(op.index, index++) << entry->repo.str() << ' ' << op.scope;
    }
  }
  EXPECT_EQ(id, end);
  EXPECT_GT(next.size(), 2 * accounts.size());
}

} // namespace
} // namespace weir::storage
