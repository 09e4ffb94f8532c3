#include "actors/repo/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

// A repo that the stream of a PDS named. Its events were finished before it was
// tracked.
namespace weir::tests {
namespace {

using testing::IsEmpty;

// protocol-coverage.md 4: an #identity came between the look-up for the claim
// and the addition
TEST(repo_claimed, a_document_that_may_be_old_is_looked_up_before_the_fetch) {
  repo_world x;
  EXPECT_TRUE(x.add({}, true));
  EXPECT_EQ(x.refreshes, 1u);
  EXPECT_EQ(x.loads, 0u);
  x.settle();
  x.clear();
  x.begin(1);
  EXPECT_THAT(x.job_ends, testing::ElementsAre(ec::cancelled))
    << "not by what is known";
  x.learn(x.identity());
  ASSERT_EQ(x.wishes.size(), 1u);
  x.settle();
  x.begin(2);
  ASSERT_EQ(x.orders.size(), 1u);
  EXPECT_EQ(x.orders[0].pds, pds_origin);
}

// architecture.md I4: its frames are finished, so only the row remembers it
TEST(repo_claimed, a_crash_does_not_forget_the_look_up) {
  repo_world x;
  x.add({}, true);
  x.write();
  EXPECT_TRUE(x.row->identity_due);
  x.clear();
  x.restart();
  x.learn(x.identity()); // The known document.
  EXPECT_EQ(x.refreshes, 1u);
  x.learn(x.identity());
  x.settle();
  EXPECT_FALSE(x.row->identity_due);
}

TEST(repo_claimed, without_such_an_event_what_is_known_will_do) {
  repo_world x;
  EXPECT_TRUE(x.add());
  EXPECT_EQ(x.refreshes, 0u);
  EXPECT_EQ(x.loads, 1u);
}

// A fetch that is older than its cause has not succeeded. That rev was not
// proved. limits::listed_rev_tries_max
TEST(repo_claimed, the_fetch_has_to_bring_the_rev_that_was_told) {
  repo_world x;
  const auto told = atproto::tid::from_time(x.now.wall, 1);
  x.add({}, false, told);
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->listed_rev, told) << "for the next life";
  for (uint64_t job = 1; job <= limits::listed_rev_tries_max + 1; ++job) {
    x.start_fetch(job);
    ASSERT_EQ(x.orders.size(), job);
    EXPECT_EQ(x.orders.back().least.defined(),
              job <= limits::listed_rev_tries_max);
    x.fail_fetch(job, fail(ec::unreachable, "older"));
    x.settle();
  }
}

// The repo was added twice, because the result of the first addition was not
// known.
TEST(repo_claimed, a_rev_that_a_synced_repo_lacks_opens_a_gap) {
  repo_world x;
  x.make_commit();
  x.sync();
  x.add({}, false, x.account.rev());
  EXPECT_THAT(x.wishes, IsEmpty());
  EXPECT_FALSE(x.machine->row().gap);
  x.add({}, false, atproto::tid{x.account.rev().value() + 1});
  EXPECT_EQ(x.wishes.size(), 1u);
  x.settle();
  EXPECT_TRUE(x.row->gap);
}

} // namespace
} // namespace weir::tests
