#include "actors/identity/limits.hpp"
#include "actors/supervisor/fetch_lanes.hpp"
#include "tests/unit/actors/identity_world.hpp"

#include <string>

/// Bounds that the plan of memory may lower, met at the value that they have
/// with enough of it.
namespace weir::tests::identities {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// limits::identity_cached_max, and one more: the one unused for longest goes
TEST(default_bounds, so_many_identities_are_cached) {
  constexpr auto most = static_cast<int>(limits::identity_cached_max);
  resolver x;
  for (int i = 1; i <= most; ++i) {
    x.ask(1, false, repo_of(i));
    x.loaded(row_at(x, 0s), repo_of(i));
  }
  EXPECT_EQ(x.machine.cached(), limits::identity_cached_max);
  x.ask(1, false, repo_of(1));
  EXPECT_THAT(x.last.load, IsEmpty()) << "it is known, and was used";
  x.ask(1, false, repo_of(most + 1));
  x.loaded(row_at(x, 0s), repo_of(most + 1));
  EXPECT_EQ(x.machine.cached(), limits::identity_cached_max);
  x.ask(1, false, repo_of(1));
  EXPECT_THAT(x.last.load, IsEmpty());
  x.ask(1, false, repo_of(2));
  EXPECT_THAT(x.last.load, ElementsAre(repo_of(2)));
}

// limits::identity_waiting_max, and one more, which is refused
TEST(default_bounds, so_many_look_ups_wait) {
  constexpr auto most = static_cast<int>(limits::identity_waiting_max);
  resolver x;
  for (int i = 1; i <= most; ++i) {
    x.fetch(1, repo_of(i));
    ASSERT_THAT(x.last.answers, IsEmpty()) << i;
  }
  EXPECT_EQ(x.machine.waiting(), limits::identity_waiting_max);
  x.fetch(1, repo_of(most + 1));
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_EQ(x.last.answers[0].repo, repo_of(most + 1));
  EXPECT_EQ(x.last.answers[0].fact.error().code, ec::limit_reached);
  EXPECT_EQ(x.machine.waiting(), limits::identity_waiting_max);
}

// limits::fetch_hosts_max, and one more: the oldest is forgotten
TEST(default_bounds, so_many_hosts_without_repos_are_remembered) {
  const supervisor_options options;
  fetch_lanes x{options};
  const steady_time now{1'000'000};
  const auto name = [](size_t i) {
    return std::to_string(i) + ".test";
  };
  const auto fail_once = [&](size_t i) {
    auto& lane = x.lane_of_name(name(i));
    ++lane.failures;
    x.settle(lane, now);
  };
  for (size_t i = 0; i < limits::fetch_hosts_max; ++i)
    fail_once(i);
  EXPECT_EQ(x.size(), limits::fetch_hosts_max);
  fail_once(limits::fetch_hosts_max);
  EXPECT_EQ(x.size(), limits::fetch_hosts_max);
  EXPECT_EQ(x.lane_of_name(name(0)).failures, 0u);
  EXPECT_EQ(x.lane_of_name(name(1)).failures, 1u);
}

} // namespace
} // namespace weir::tests::identities
