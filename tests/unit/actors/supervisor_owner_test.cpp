#include "actors/supervisor/limits.hpp"
#include "actors/support/limits.hpp"
#include "tests/unit/actors/supervisor_queue.hpp"

namespace weir::tests::supervisors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// SYNC-11: a late message of an earlier job
TEST(supervisor, a_late_end_does_not_end_the_next_job) {
  queue x;
  x.ask(1, a_host);
  const auto first = x.jobs.at(0);
  x.end(1);
  x.ask(1, a_host);
  x.end(1, first);
  EXPECT_EQ(x.machine.running(), 1u);
  x.end(1);
  EXPECT_EQ(x.machine.running(), 0u);
}

// SYNC-11: a REPO that dies returns its permit and is fetched later
TEST(supervisor, a_dead_owner_frees_its_permit_and_is_asked_again) {
  supervisor_options options;
  options.parallelism = 1;
  queue x{options};
  x.tick();
  x.ask(1, a_host);
  x.ask(2, a_host);
  x.clear();
  x.lost(1);
  EXPECT_THAT(x.started, ElementsAre(name(2)));
  EXPECT_THAT(x.prepared, IsEmpty());
  x.pass(limits::refetch_pause - 1us);
  EXPECT_THAT(x.prepared, IsEmpty());
  x.pass(1us);
  x.tick();
  EXPECT_THAT(x.prepared, ElementsAre(name(1)));
}

// SYNC-06: a directory that fails at once wakes at most as many REPOs as there
// are places, because each keeps its place until its row records the failure
TEST(supervisor, a_look_up_that_fails_keeps_its_place_until_the_repo_knows) {
  supervisor_options options;
  options.preparing_max = 1;
  queue x{options};
  x.wish(1);
  x.wish(2);
  const identity_answer failed{repo_of(1), fail(ec::unreachable)};
  const auto out = x.machine.on_identity(failed, x.now);
  ASSERT_EQ(out.attend.size(), 1u);
  EXPECT_EQ(out.attend[0].repo, repo_of(1));
  EXPECT_FALSE(out.attend[0].identity->fact);
  EXPECT_THAT(out.look_up, IsEmpty());
  EXPECT_THAT(x.machine.on_identity(failed, x.now).attend,
              IsEmpty())
    << "a second answer";
  x.attended(1);
  EXPECT_THAT(x.prepared, ElementsAre(name(1), name(2)));
}

// A permit includes the document, so that the REPO need not ask for it.
TEST(supervisor, a_permit_comes_with_the_document) {
  queue x;
  x.wish(1);
  identity_answer said{repo_of(1), storage::identity_row{}};
  said.fact->pds = a_host;
  said.fact->signing_key = "zKey";
  const auto out = x.machine.on_identity(said, x.now);
  ASSERT_EQ(out.start.size(), 1u);
  ASSERT_TRUE(out.start[0].identity);
  EXPECT_EQ(out.start[0].identity->fact->signing_key, "zKey");
}

// completeness.md, The terms: quiet work needs a REPO that is awake but no
// fetch, unless it wants one by then.
TEST(supervisor, quiet_work_wakes_the_repo_and_nothing_is_looked_up) {
  queue x;
  x.found(1, repo_status::synced, 0s, a_host, true);
  EXPECT_THAT(x.woken, ElementsAre(name(1)));
  x.wish(1, repo_status::desync);
  x.attended(1);
  EXPECT_THAT(x.prepared, ElementsAre(name(1), name(1))) << "what it wished";
  EXPECT_EQ(x.woken.size(), 1u);
}

// ADR 24: otherwise its row would say `syncing` until it gets a permit
TEST(supervisor, a_row_that_says_syncing_at_the_start_is_put_right_first) {
  queue x;
  x.found(1, repo_status::syncing, 0s, a_host);
  EXPECT_THAT(x.woken, ElementsAre(name(1)));
  x.wish(1, repo_status::desync, 0s, a_host);
  x.attended(1);
  EXPECT_THAT(x.prepared, ElementsAre(name(1), name(1)));
  EXPECT_EQ(x.woken.size(), 1u);
}

TEST(supervisor, quiet_work_that_becomes_a_wish_is_a_fetch) {
  supervisor_options options;
  options.preparing_max = 1;
  queue x{options};
  x.wish(1, repo_status::desync, 0s, a_host);
  x.found(2, repo_status::synced, 0s, a_host, true);
  x.wish(2, repo_status::desync, 0s, a_host);
  x.ready(1, "");
  EXPECT_THAT(x.prepared, ElementsAre(name(1), name(2)));
  EXPECT_THAT(x.woken, IsEmpty());
}

} // namespace
} // namespace weir::tests::supervisors
