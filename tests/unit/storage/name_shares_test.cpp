#include "storage/name_shares.hpp"

#include <gtest/gtest.h>

// Nobody takes the room of all others: docs/hostile-inputs.md, names of
// collections.

namespace weir::storage {
namespace {

using namespace limits;

constexpr name_user alice{"did:web:a", "https://one.test"};

collection_row owned(size_t i, const name_user& who = alice) {
  return {"app.n" + std::to_string(100'000 + i), std::string{who.host}, true,
          std::string{who.repo}};
}

const size_t cost = name_shares::cost_of(owned(0));

TEST(NameSharesTest, ANameCostsItsEntryAndItsTexts) {
  EXPECT_EQ(cost, name_entry_bytes + 11 + 2 * (16 + 9));
  EXPECT_EQ(name_shares::cost_of({"app.n100000", {}, false, {}}),
            name_entry_bytes + 11);
}

TEST(NameSharesTest, ARepoTakesAShareOfWhatIsFreeAndNoMore) {
  const name_shares shares{names_repo_share * cost};
  EXPECT_EQ(shares.refusal(alice, cost), "");
  EXPECT_NE(shares.refusal(alice, cost + 1), "");
}

TEST(NameSharesTest, TheReposOfAHostShareWhatOneHostMayTake) {
  name_shares shares{1'000 * cost};
  size_t taken = 0;
  std::string repo;
  const auto next = [&] {
    repo = "did:web:" + std::string(1, static_cast<char>('a' + taken % 26));
    return name_user{repo, alice.host};
  };
  while (shares.refusal(next(), cost).empty())
    shares.add(owned(taken++, next()));
  EXPECT_EQ(taken, 1'000 / (names_host_share + 1));
  EXPECT_EQ(shares.refusal({"did:web:z", "https://two.test"}, cost), "")
    << "a repo of another host has its own share";
}

TEST(NameSharesTest, HoweverManyHostsInventNamesSomethingIsLeft) {
  name_shares shares{10'000 * cost};
  for (size_t i = 0; i < 100; ++i) {
    const auto host = "https://h" + std::to_string(i) + ".test";
    for (size_t n = 0;; ++n) {
      const auto repo = "did:web:r" + std::to_string(n);
      if (!shares.refusal({repo, host}, cost).empty())
        break;
      shares.add(owned(n, {repo, host}));
    }
  }
  EXPECT_EQ(shares.refusal({"did:web:z", "https://honest.test"}, 20 * cost / 10),
            "");
}

TEST(NameSharesTest, WhatIsGivenBackIsFreeAgain) {
  name_shares shares{names_repo_share * cost};
  shares.add(owned(1));
  EXPECT_EQ(shares.bytes(), cost);
  EXPECT_NE(shares.refusal(alice, cost), "");
  shares.remove(owned(1));
  EXPECT_EQ(shares.bytes(), 0u);
  EXPECT_EQ(shares.refusal(alice, cost), "");
}

TEST(NameSharesTest, NobodyPassesWhatAllMayHold) {
  name_shares shares{2 * cost};
  shares.add({"app.common", {}, false, {}});
  EXPECT_NE(shares.refusal({"did:web:b", ""}, 2 * cost), "");
}

} // namespace
} // namespace weir::storage
