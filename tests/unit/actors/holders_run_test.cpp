#include "actors/supervisor/holders_machine.hpp"
#include "actors/supervisor/limits.hpp"

#include <gtest/gtest.h>

// SYNC-18: a PDS's answers about its accounts in one listing.
namespace weir::tests::runs {

namespace {

using namespace weir::actors;
using said = holders_run::said;

const auto account = atproto::did::trusted("did:plc:one");

} // namespace

TEST(holders_run, answers_are_kept_until_their_page_is_through) {
  holders_run x;
  EXPECT_FALSE(x.kept(account));
  x.keep(account, said::holds);
  x.keep(account, said::absent);
  EXPECT_EQ(x.kept(account), said::absent);
  x.begin(); // The first page failed, and is requested again.
  EXPECT_EQ(x.kept(account), said::absent);
  x.forget_page();
  EXPECT_FALSE(x.kept(account));
}

TEST(holders_run, a_host_that_knows_none_of_its_accounts_is_not_believed) {
  for (const auto other : {said::holds, said::without}) {
    holders_run x;
    EXPECT_EQ(x.disowned(), 0u) << "it lists nobody";
    x.count(said::absent);
    EXPECT_EQ(x.disowned(), 1u);
    x.count(said::nothing);
    x.count(said::absent);
    EXPECT_EQ(x.disowned(), 2u);
    x.count(other);
    EXPECT_EQ(x.disowned(), 0u) << "it knows one";
    x.begin();
    x.count(said::absent);
    EXPECT_EQ(x.disowned(), 1u) << "the next listing";
  }
}

// limits::describe_absent_min: the others are already tracked.
TEST(holders_run, beside_tracked_accounts_it_takes_more_of_them) {
  holders_run x;
  x.count_known(1);
  for (size_t i = 1; i < limits::describe_absent_min; ++i)
    x.count(said::absent);
  EXPECT_EQ(x.disowned(), 0u) << "they may be gone";
  x.count(said::absent);
  EXPECT_EQ(x.disowned(), limits::describe_absent_min);
  x.count(said::absent);
  EXPECT_EQ(x.disowned(), limits::describe_absent_min + 1);
  x.begin();
  x.count(said::absent);
  EXPECT_EQ(x.disowned(), 1u) << "nobody is tracked in this listing";
}

} // namespace weir::tests::runs
