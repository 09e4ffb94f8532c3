#include "storage/tables/limits.hpp"
#include "storage/tables/name_shares.hpp"

#include <gtest/gtest.h>

// No host takes the room of all others: docs/hostile-inputs.md, names of
// collections.

namespace weir::storage {
namespace {

using namespace limits;

constexpr name_user alice{"did:web:a", "https://one.test"};

collection_row owned(size_t i, const name_user& who = alice) {
  return {"app.n" + std::to_string(100'000 + i), std::string{who.host},
          std::string{who.repo}};
}

const size_t cost = name_shares::cost_of(owned(0));
/// The number of names that each host may always have.
const size_t floor_names = names_host_floor / cost;

/// Takes names until one is refused.
size_t take_all(name_shares& shares, const name_user& who, size_t first = 0) {
  size_t out = 0;
  for (; shares.refusal(who, cost).empty(); ++out)
    shares.add(owned(first + out, who));
  return out;
}

TEST(NameSharesTest, ANameCostsItsEntryAndItsTexts) {
  EXPECT_EQ(cost, name_entry_bytes + 11 + 2 * (16 + 9));
  EXPECT_EQ(name_shares::cost_of({"app.n100000", {}, {}}),
            name_entry_bytes + 11);
}

TEST(NameSharesTest, ARepoTakesAShareOfWhatIsFreeAndNoMore) {
  const auto share = names_host_floor + 1;
  const name_shares shares{2 * names_repo_share * share};
  EXPECT_EQ(shares.refusal(alice, share), "");
  EXPECT_NE(shares.refusal(alice, share + 1), "");
}

// limits::names_host_floor, and one more
TEST(NameSharesTest, AHostHasItsFirstNamesWhateverOthersHave) {
  name_shares shares{4 * names_host_floor};
  shares.add({std::string(2 * names_host_floor, 'x'), {}, {}});
  EXPECT_EQ(shares.refusal(alice, names_host_floor), "");
  EXPECT_NE(shares.refusal(alice, names_host_floor + 1), "");
  EXPECT_EQ(take_all(shares, alice), floor_names);
}

TEST(NameSharesTest, TheReposOfAHostShareWhatOneHostMayTake) {
  name_shares shares{20'000 * cost};
  size_t taken = 0;
  for (char repo = 'a'; repo <= 'z'; ++repo)
    for (char more = 'a'; more <= 'z'; ++more) {
      const auto name = std::string{"did:web:"} + repo + more;
      taken += take_all(shares, {name, alice.host}, taken);
    }
  EXPECT_NEAR(double(taken), 10'000. / (names_host_share + 1), 30);
  EXPECT_EQ(shares.refusal({"did:web:z", "https://two.test"}, cost), "")
    << "a repo of another host has its own share";
}

/// A host that uses any existing names.
const name_user mallory{"did:web:m", "https://m.test"};

// Otherwise it would no longer be charged for names that others use, too
TEST(NameSharesTest, WhoBeganANamePaysForItWhoeverUsesIt) {
  name_shares shares{20'000 * cost};
  const auto taken = take_all(shares, alice);
  EXPECT_EQ(take_all(shares, alice), 0u);
  EXPECT_LE(taken * cost, 10'000 * cost / names_repo_share + names_host_floor);
  const auto more = take_all(shares, mallory, taken);
  EXPECT_LE(more, taken) << "and no more than without alice";
}

// limits::names_bytes_max: hundreds of hosts invent as many names as they may
TEST(NameSharesTest, BesideManyHostsThatInventNamesEachHostHasItsOwn) {
  name_shares shares{names_bytes_max};
  const size_t hostile = names_bytes_max / 2 / names_host_floor / 2;
  for (size_t i = 0; i < hostile; ++i) {
    const auto host = "https://h" + std::to_string(i) + ".test";
    for (size_t repo = 0; repo < 20; ++repo)
      take_all(shares, {"did:web:r" + std::to_string(20 * i + repo), host},
               2'000 * repo);
  }
  for (size_t i = 0; i < hostile / 2; ++i) {
    const auto host = "https://honest" + std::to_string(i) + ".test";
    const name_user who{"did:web:z", host};
    EXPECT_EQ(shares.refusal(who, names_host_floor), "") << i;
    take_all(shares, who);
  }
}

TEST(NameSharesTest, WhatIsGivenBackIsFreeAgain) {
  name_shares shares{2 * names_repo_share * (names_host_floor + cost)};
  const auto taken = take_all(shares, alice);
  EXPECT_EQ(shares.bytes(), taken * cost);
  shares.remove(owned(0));
  EXPECT_EQ(shares.refusal(alice, cost), "");
  EXPECT_NE(shares.refusal(alice, 2 * cost), "");
  for (size_t i = 1; i < taken; ++i)
    shares.remove(owned(i));
  EXPECT_EQ(shares.bytes(), 0u);
}

TEST(NameSharesTest, NobodyPassesWhatAllMayHold) {
  name_shares shares{2 * cost};
  shares.add({"app.common", {}, {}});
  EXPECT_NE(shares.refusal({"did:web:b", ""}, 2 * cost), "");
}

} // namespace
} // namespace weir::storage
