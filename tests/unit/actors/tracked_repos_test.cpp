#include "actors/router/tracked_repos.hpp"

#include <gtest/gtest.h>

namespace weir::actors {
namespace {

const auto repo = atproto::did::trusted("did:web:r1.test");

TEST(tracked_repos, frames_behind_an_addition_are_not_dropped) {
  tracked_repos x{{}};
  EXPECT_FALSE(x.contains(repo));
  x.begin_addition(repo);
  EXPECT_TRUE(x.contains(repo));
  x.end_addition(repo, true);
  EXPECT_TRUE(x.contains(repo));
  x.learn(repo, false);
  EXPECT_FALSE(x.contains(repo));
}

TEST(tracked_repos, an_addition_that_left_nothing_is_forgotten) {
  tracked_repos x{{}};
  x.begin_addition(repo);
  x.end_addition(repo, false);
  EXPECT_FALSE(x.contains(repo));
}

// The rows that the first one left were read before the second one wrote.
TEST(tracked_repos, an_addition_on_its_way_outlives_one_that_failed) {
  tracked_repos x{{}};
  x.begin_addition(repo);
  x.begin_addition(repo);
  x.end_addition(repo, false);
  EXPECT_TRUE(x.contains(repo));
  x.end_addition(repo, true);
  EXPECT_TRUE(x.contains(repo));
}

TEST(tracked_repos, a_removal_does_not_stop_the_addition_behind_it) {
  tracked_repos x{{atproto::stable_hash(repo.str())}};
  x.begin_addition(repo);
  x.learn(repo, false);
  EXPECT_TRUE(x.contains(repo));
}

} // namespace
} // namespace weir::actors
