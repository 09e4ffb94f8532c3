#include "apps/demo/proof.hpp"
#include "simnet/network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Copies that the demo considers complete, missing and wrong.

namespace weir::apps {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::map<std::string, listed_repo> as_it_is(simnet::world& truth) {
  std::map<std::string, listed_repo> out;
  for (size_t i = 0; i < truth.accounts(); ++i) {
    const auto x = truth.view(i);
    auto& repo = out[x.id.str()];
    repo.rev = x.rev.str();
    repo.records = x.records;
    repo.complete = true;
  }
  return out;
}

} // namespace

TEST(DemoCompleteTest, WhatIsCalledCompleteAndDiffersIsWrongAtOnce) {
  simnet::network_options options;
  options.population.accounts = 3;
  options.population.records = 9;
  options.population.hosts = 1;
  simnet::network life{options};
  auto& truth = life.truth();
  auto repos = as_it_is(truth);
  const auto did = truth.view(1).id.str();
  const auto is = [&] { return judge_completeness(truth, repos); };
  EXPECT_THAT(is().missing, IsEmpty());
  EXPECT_THAT(is().wrong, IsEmpty());
  ++repos[did].records;
  EXPECT_THAT(is().wrong, ElementsAre(did + " is called complete and differs"));
  repos[did].complete = false;
  repos[did].reason = "its stream is away";
  EXPECT_THAT(is().wrong, IsEmpty());
  EXPECT_THAT(is().missing,
              ElementsAre(did + " is not complete: its stream is away"));
  repos.erase(did);
  EXPECT_THAT(is().missing, ElementsAre(did + " is not known"));
}

} // namespace weir::apps
