#include "actors/supervisor/limits.hpp"
#include "actors/support/limits.hpp"
#include "tests/unit/actors/supervisor_queue.hpp"

namespace weir::tests::supervisors {
namespace {

using testing::ElementsAre;

// SYNC-11: late news of an earlier job
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

// SYNC-11: a REPO that dies gives its permit back and is asked again, later
TEST(supervisor, a_dead_owner_frees_its_permit_and_is_asked_again) {
  for (const auto in_order : {true, false}) {
    supervisor_options options;
    options.parallelism = 1;
    queue x{options};
    x.ask(1, a_host);
    x.ask(2, a_host);
    x.clear();
    x.lost(1, in_order);
    EXPECT_THAT(x.started, ElementsAre(name(2)));
    EXPECT_EQ(x.prepared.size(), in_order ? 1u : 0u);
    x.pass(limits::refetch_pause);
    x.tick();
    EXPECT_THAT(x.prepared, ElementsAre(name(1)));
  }
}

// SYNC-10: `limits::prepare_wait_max`; an answer that was lost
TEST(supervisor, a_repo_that_does_not_name_its_host_is_asked_again) {
  supervisor_options options;
  options.preparing_max = 1;
  queue x{options};
  x.tick();
  x.wish(1);
  x.wish(2);
  EXPECT_THAT(x.prepared, ElementsAre(name(1)));
  x.pass(limits::prepare_wait_max - 1us);
  EXPECT_EQ(x.prepared.size(), 1u);
  x.pass(1us);
  x.tick();
  EXPECT_EQ(x.prepared.size(), 2u);
  x.ready(2, a_host);
  x.ready(1, a_host);
  EXPECT_EQ(x.machine.running(), 2u);
}

} // namespace
} // namespace weir::tests::supervisors
