#include "actors/support/limits.hpp"
#include "tests/unit/actors/identity_world.hpp"

// docs/adr/0015-the-export-of-the-directory.md: the export answers first
// requests as if it had been looked up at the time when it was read.

namespace weir::tests::identities {

using testing::ElementsAre;
using testing::IsEmpty;

namespace {

storage::identity_row exported_at(const resolver& x, std::chrono::seconds age,
                                  std::string handle = {}) {
  storage::identity_row out;
  out.signing_key = "zExported";
  out.pds = "https://pds.test";
  out.claimed_handle = std::move(handle);
  out.fetched_at = x.wall.seconds() - age.count();
  return out;
}

void stored(resolver& x, std::optional<storage::identity_row> row,
            const storage::identity_row& exported,
            const atproto::did& repo = alice) {
  x.last = x.machine.on_loaded(repo, std::move(row), x.now, x.wall, exported);
}

} // namespace

TEST(identity_export, it_serves_who_asks_for_the_first_time) {
  resolver x;
  x.ask(1);
  stored(x, std::nullopt, exported_at(x, 60s));
  EXPECT_THAT(x.last.fetch, IsEmpty());
  EXPECT_THAT(x.last.taken, ElementsAre(alice));
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_EQ(x.last.answers[0].fact->signing_key, "zExported");
  EXPECT_TRUE(x.last.answers[0].last);
  ASSERT_EQ(x.last.store.size(), 1u);
  EXPECT_EQ(x.last.store[0].second.fetched_at, x.wall.seconds() - 60);
  // From then on it is an ordinary row.
  x.ask(2);
  EXPECT_EQ(x.last.answers.at(0).fact->signing_key, "zExported");
  EXPECT_THAT(x.last.fetch, IsEmpty());
}

TEST(identity_export, its_handle_is_checked_as_that_of_a_look_up) {
  resolver x;
  x.ask(1);
  stored(x, std::nullopt, exported_at(x, 60s, "ann.test"));
  ASSERT_EQ(x.last.verify.size(), 1u);
  EXPECT_EQ(x.last.store.at(0).second.fetched_at, 0);
  EXPECT_FALSE(x.last.answers.at(0).last);
  EXPECT_EQ(x.last.answers.at(0).fact->handle, "");
  x.handle("ann.test", alice);
  EXPECT_EQ(x.last.answers.at(0).fact->handle, "ann.test");
  EXPECT_TRUE(x.last.answers.at(0).last);
  EXPECT_EQ(x.last.store.at(0).second.fetched_at, x.wall.seconds() - 60);
}

TEST(identity_export, it_grows_old_from_the_time_it_was_read) {
  resolver x;
  x.ask(1);
  stored(x, std::nullopt, exported_at(x, 60s));
  x.pass(limits::identity_fresh - 61s);
  x.ask(2);
  EXPECT_THAT(x.last.fetch, IsEmpty());
  x.pass(1s);
  x.ask(3);
  EXPECT_THAT(x.last.fetch, ElementsAre(alice));
}

TEST(identity_export, it_serves_nobody_who_needs_a_newer_one_or_has_a_row) {
  resolver x;
  x.ask(1, true);
  stored(x, std::nullopt, exported_at(x, 60s));
  EXPECT_THAT(x.last.taken, IsEmpty());
  EXPECT_THAT(x.last.fetch, ElementsAre(alice));
  resolver y;
  y.ask(1);
  stored(y, row_at(y, 48h), exported_at(y, 60s));
  EXPECT_THAT(y.last.taken, IsEmpty());
  EXPECT_THAT(y.last.fetch, ElementsAre(alice));
}

TEST(identity_export, it_serves_those_who_wait_for_a_look_up_already) {
  identity_options options;
  options.per_second = 1;
  resolver x{options};
  x.fetch(1, repo_of(1));
  EXPECT_THAT(x.last.fetch, ElementsAre(repo_of(1)));
  for (int i = 2; i < 5; ++i)
    x.fetch(static_cast<waiter_id>(i), repo_of(i));
  x.fetch(9, web_repo(9));
  x.ask(10, true, repo_of(10)); // A report says that its document changed.
  x.loaded(std::nullopt, repo_of(10));
  EXPECT_THAT(
    x.machine.served_by_export(),
    testing::UnorderedElementsAre(repo_of(2), repo_of(3), repo_of(4)));
  stored(x, std::nullopt, exported_at(x, 1s), repo_of(3));
  EXPECT_EQ(x.last.answers.at(0).to, 3u);
  EXPECT_THAT(x.last.taken, ElementsAre(repo_of(3)));
  // A look-up in flight brings a newer one.
  stored(x, std::nullopt, exported_at(x, 1s), repo_of(1));
  EXPECT_THAT(x.last.answers, IsEmpty());
  // Repos that were served are not looked up.
  std::vector<atproto::did> fetched;
  for (int i = 0; i < 20; ++i) {
    x.pass(1s);
    x.last = x.machine.on_timer(x.now);
    for (const auto& repo : x.last.fetch)
      fetched.push_back(repo);
  }
  EXPECT_THAT(fetched, testing::UnorderedElementsAre(repo_of(2), repo_of(4),
                                                     web_repo(9), repo_of(10)));
}

TEST(identity_export, what_failed_a_moment_ago_is_looked_up) {
  resolver x;
  x.fetch(1);
  x.document(fail(ec::not_found));
  x.ask(2);
  stored(x, std::nullopt, exported_at(x, 60s));
  EXPECT_THAT(x.last.taken, IsEmpty());
}

} // namespace weir::tests::identities
