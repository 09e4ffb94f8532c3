#include "storage/log/content_reader.hpp"
#include "storage/log/limits.hpp"
#include "storage/log/log_reader.hpp"
#include "storage/tables/head_cursor.hpp"
#include "storage/tables/repo_table.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

// Random lives of several repos compared with a model of their records: the log
// gives the copy; architecture.md I2, I3, I6.

namespace weir::storage {
namespace {

using tests::change;
using tests::test_account;
using tests::test_store;

class random_lives {
public:
  explicit random_lives(uint64_t seed) : dice_(seeded_random(seed)) {
    for (char c = 'a'; c <= 'e'; ++c)
      accounts_.emplace_back(c);
  }

  void step() {
    journal_batch group;
    std::vector<size_t> who;
    for (size_t i = 0; i < accounts_.size(); ++i) {
      if (dice_->below(3) == 0) {
        group.updates.push_back(next_update(accounts_[i]));
        who.push_back(i);
      }
    }
    const auto out = store_.commit(std::move(group));
    for (size_t i = 0; i < who.size(); ++i)
      accounts_[who[i]].accept(out.receipts.at(i));
    if (dice_->below(4) == 0) {
      auto& one = accounts_[dice_->below(accounts_.size())];
      ASSERT_TRUE(store_.writer->erase_step(one.repo, 1 + dice_->below(9)));
    }
    store_.time.advance(std::chrono::seconds{dice_->below(50)});
    if (dice_->below(10) == 0)
      store_.reopen();
  }

  void check() {
    ASSERT_EQ(store_.findings(), "");
    for (const auto& one : accounts_)
      check_records(one);
  }

private:
  repo_update next_update(test_account& one) {
    if (!one.known)
      return one.appear(dice_->below(2) == 0 ? repo_status::syncing
                                             : repo_status::synced);
    if (dice_->below(25) == 0)
      return dice_->below(2) == 0 ? one.erase() : one.forget();
    if (one.row.status == repo_status::syncing)
      return dice_->below(3) == 0 ? one.finish() : one.chunk(changes(one));
    if (one.row.status == repo_status::pending || dice_->below(12) == 0)
      return one.appear(repo_status::syncing);
    if (dice_->below(5) == 0 && one.chain && one.chain->rev.defined())
      return one.pass();
    std::vector<std::vector<change>> all;
    for (auto n = 1 + dice_->below(3); n > 0; --n)
      all.push_back(changes(one));
    return one.commits(all);
  }

  /// Paths of a few collections and keys, each at most once.
  std::vector<change> changes(const test_account& one) {
    std::map<std::string, change> out;
    for (auto n = dice_->below(7); n > 0; --n) {
      const auto path = "app.c" + std::to_string(dice_->below(4)) + ".x/"
                        + std::to_string(dice_->below(12));
      auto size = 1 + dice_->below(2 * limits::inline_refs_min);
      if (dice_->below(3) == 0)
        size = 0;
      out[path] = {path, std::string(size, char('a' + dice_->below(26)))};
    }
    // A chunk is a diff: it deletes only records that exist.
    std::vector<change> list;
    for (auto& [path, x] : out)
      if (!x.body.empty() || one.records.contains(path))
        list.push_back(std::move(x));
    if (list.empty())
      list.push_back({"app.c0.x/self" + std::to_string(one.rev), "r"});
    return list;
  }

  void check_records(const test_account& one) {
    const repo_table repos{*store_.db, *store_.names};
    const auto state = repos.load(one.repo).value();
    std::map<std::string, std::string> found;
    if (state.chain) {
      head_cursor heads{*store_.db, *store_.names, 0, one.repo, *state.chain};
      content_reader contents{*store_.db, 0};
      const auto page = heads.next(10'000).value();
      for (const auto& head : page)
        found[head.path()]
          = as_text(contents.read_one(head.head.content).value().view());
      EXPECT_EQ(state.chain->record_count, one.records.size());
    }
    EXPECT_EQ(found, one.records) << one.repo.str();
  }

  std::unique_ptr<random_source> dice_;
  test_store store_;
  std::vector<test_account> accounts_;
};

TEST(CommitterModelTest, RecordsAreThoseOfTheModelThroughAllLives) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random_lives lives{seed};
    for (size_t round = 0; round < 15; ++round) {
      for (size_t n = 0; n < 8; ++n)
        lives.step();
      lives.check();
      if (testing::Test::HasFailure())
        return;
    }
  }
}

} // namespace
} // namespace weir::storage
