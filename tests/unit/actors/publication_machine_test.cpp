#include "actors/journal/publication_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::tests {
namespace {

using namespace weir::actors;
using storage::account_status;
using storage::repo_status;
using testing::ElementsAre;
using testing::IsEmpty;

class PublicationTest : public testing::Test {
protected:
  publication_machine::effects
  write(const storage::repo_update& x,
        storage::update_outcome outcome = storage::update_outcome::done) {
    storage::update_receipt receipt;
    receipt.outcome = outcome;
    receipt.first = 5;
    receipt.last = 7;
    receipt.erased_through = x.erase ? 4 : 0;
    publication_machine::effects out;
    machine.on_update(x, receipt, {{7, 1, 3}}, steady_time{1}, out);
    return out;
  }

  storage::repo_update becomes(repo_status status,
                               std::optional<repo_status> before = {}) {
    storage::repo_update out;
    out.repo = repo;
    out.old_status = before;
    out.row.emplace();
    out.row->status = status;
    return out;
  }

  const atproto::did repo
    = atproto::did::trusted("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa");
  store_stats counts;
  account_board accounts;
  metrics_registry metrics;
  publication_machine machine{counts, accounts, metrics};
};

TEST_F(PublicationTest, AFrameIsFinishedWhenItsUpdateIsWritten) {
  const auto written = write(becomes(repo_status::synced));
  EXPECT_THAT(written.done, ElementsAre(position{7, 1, 3}));
  EXPECT_EQ(written.written, 1u);
  EXPECT_EQ(written.operations, 3u);
  const auto refused = write(becomes(repo_status::synced),
                             storage::update_outcome::stale);
  EXPECT_THAT(refused.done, IsEmpty());
  EXPECT_EQ(refused.refused, 1u);
  EXPECT_EQ(refused.operations, 0u);
}

TEST_F(PublicationTest, ReposAreCountedByTheStateThatWasWritten) {
  const auto synced = [this] {
    return counts.statuses[size_t(repo_status::synced)].load();
  };
  write(becomes(repo_status::pending));
  EXPECT_EQ(counts.repo_count(), 1u);
  EXPECT_EQ(synced(), 0u);
  write(becomes(repo_status::synced, repo_status::pending),
        storage::update_outcome::stale);
  EXPECT_EQ(synced(), 0u) << "it was not written";
  write(becomes(repo_status::synced, repo_status::pending));
  EXPECT_EQ(counts.repo_count(), 1u);
  EXPECT_EQ(synced(), 1u);
}

TEST_F(PublicationTest, WhatWasErasedIsWithheldUntilAllConsumersArePastIt) {
  auto gone = becomes(repo_status::pending);
  gone.erase = true;
  EXPECT_EQ(write(gone).erasings, 1u);
  EXPECT_EQ(accounts.of(repo).erased_through, 4u);
  machine.on_erased(repo, 4);
  storage::consumer_change at;
  at.name = "channel";
  at.row.emplace();
  at.row->positions = {3};
  machine.on_consumers({at});
  machine.forget_erased(1);
  EXPECT_EQ(accounts.of(repo).erased_through, 4u);
  at.row->positions = {4};
  machine.on_consumers({at});
  machine.forget_erased(1);
  EXPECT_EQ(accounts.of(repo).erased_through, 0u);
}

} // namespace
} // namespace weir::tests
