#include "atproto/dag_cbor.hpp"
#include "storage/format/limits.hpp"
#include "storage/tables/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

/// Commits of which nothing is kept: they move the chain and get no entry of
/// the log (docs/storage-format.md 3.4).
namespace weir::tests {
namespace {

/// A commit whose signed block has this size: one of its keys is unknown.
bytes commit_of_size(repo_world& x, size_t size) {
  const auto draft = x.account.draft();
  const auto& object = draft.object;
  const auto block_with = [&](size_t padding) {
    const auto encode = [&](const bytes* sig) {
      atproto::cbor::writer out;
      out.begin_map(sig == nullptr ? 6 : 7);
      out.put_text("did").put_text(object.repo.str());
      out.put_text("rev").put_text(object.rev.str());
      if (sig != nullptr)
        out.put_text("sig").put_bytes(*sig);
      out.put_text("data").put_link(object.data);
      out.put_text("prev").put_link_or_null(object.prev);
      out.put_text("padding").put_text(std::string(padding, 'x'));
      out.put_text("version").put_int(3);
      return out.take();
    };
    const auto made = x.account.key().sign(encode(nullptr));
    const bytes sig{made.begin(), made.end()};
    return encode(&sig);
  };
  const auto padding = size - block_with(300).size() + 300;
  const auto block = block_with(padding);
  EXPECT_EQ(block.size(), size);
  return draft.encode(block);
}

// Also when several are written at once, and by a REPO that was loaded anew
TEST(repo_passed, an_entry_says_how_many_commits_without_one_it_follows) {
  repo_world x{{"app.other.*"}};
  x.sync();
  x.take_all({x.make_commit("app.test.note/a")});
  x.write();
  x.restart();
  x.learn(x.identity());
  x.take_all({x.make_commit("app.test.note/b"), x.make_commit("app.test.note/c"),
              x.make_commit("app.other.note/d"),
              x.make_commit("app.test.note/e")});
  const auto update = x.write();
  ASSERT_EQ(update.transactions.size(), 1u);
  EXPECT_EQ(update.transactions[0].passed, 3u);
  ASSERT_TRUE(update.chain);
  EXPECT_EQ(update.chain->passed, 1u);
  EXPECT_EQ(update.chain->rev, x.account.rev());
}

// They are gone with the chain, and do not count twice.
TEST(repo_passed, a_fetch_follows_the_commits_without_an_entry) {
  repo_world x{{"app.other.*"}};
  x.sync();
  x.take(x.make_commit("app.test.note/a"));
  x.write();
  x.account.put("app.other.note/b", make_record("b"));
  x.account.commit();
  x.resync();
  x.run_fetch(7);
  EXPECT_EQ(x.log.back().passed, 1u);
  EXPECT_EQ(x.chain->passed, 0u);
  EXPECT_TRUE(x.chain->passed_block.empty());
}

// `limits::passed_block_bytes_max`
TEST(repo_passed, a_large_block_gets_an_entry_although_nothing_is_kept) {
  for (const size_t more : {0, 1}) {
    repo_world x{{"app.other.*"}};
    x.sync();
    x.account.put("app.test.note/a", make_record("a"));
    x.take(commit_of_size(x, limits::passed_block_bytes_max + more));
    EXPECT_EQ(x.count_of(repo_counter::commit_filtered), 1u);
    EXPECT_EQ(x.write().transactions.size(), more);
    EXPECT_EQ(x.chain->passed, 1 - more);
    EXPECT_EQ(x.chain->rev, x.account.rev());
  }
}

TEST(repo_passed, commits_without_an_entry_are_coalesced_up_to_the_limit) {
  constexpr auto max = limits::repo_coalesced_commits_max;
  repo_world x{{"app.other.*"}};
  x.sync();
  std::vector<bytes> frames;
  for (size_t i = 0; i < max + 1; ++i)
    frames.push_back(x.make_commit());
  x.take_all(frames);
  EXPECT_EQ(x.in_flight->marks.size(), max);
  EXPECT_EQ(x.machine->waiting(), 1u);
  x.write();
  x.write();
  EXPECT_EQ(x.chain->passed, max + 1);
}

// What is refused with such a commit is written without it.
TEST(repo_passed, a_fact_beside_a_refused_one_is_written_without_it) {
  repo_world x{{"app.other.*"}};
  x.sync();
  x.take(x.make_commit("app.test.note/first"));
  x.take(x.make_commit("app.test.note/a"));
  x.account_event(false, "suspended");
  x.write();
  const auto both = x.write(update_outcome::refused);
  ASSERT_TRUE(both.chain);
  ASSERT_EQ(both.transactions.size(), 1u);
  const auto fact = x.write();
  EXPECT_FALSE(fact.chain);
  ASSERT_EQ(fact.transactions.size(), 1u);
  EXPECT_EQ(fact.transactions[0].ops[0].scope, storage::account_scope);
  EXPECT_EQ(x.chain->passed, 1u);
}

} // namespace
} // namespace weir::tests
