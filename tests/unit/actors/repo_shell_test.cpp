#include "actors/repo/repo.hpp"
#include "messages/backfill.hpp"
#include "messages/identity.hpp"
#include "messages/journal.hpp"
#include "messages/repo.hpp"
#include "tests/support/repo_builder.hpp"
#include "tests/unit/actors/shell_fixture.hpp"
#include "tests/unit/actors/upstream_views.hpp"

// The shell of REPO: its reports to the operator, and to ROUTER.

namespace weir::tests {
namespace {

using namespace weir::actors;
using storage::update_outcome;

class RepoShellTest : public ShellFixture {
protected:
  RepoShellTest() {
    home->journal = journal.as<journal_actor>();
    home->readers = {reader.as<reader_actor>()};
    shared->identity = identity.as<identity_actor>();
    shared->supervisor = supervisor.as<supervisor_actor>();
    metrics = std::make_shared<repo_metrics>(shared->metrics);
    const backfill_factory make_backfill
      = [this](const atproto::did&, const fetch_order& x, const repo_actor&) {
          ordered.push_back(x.job);
          return backfill.as<backfill_actor>();
        };
    repo = keep(spawn_repo(
      sys, router.as<router_actor>(),
      {shared, home, std::make_shared<repo_settings>(), metrics,
       std::make_shared<const backfill_factory>(make_backfill)},
      shell_repo(1), 1));
    tell(repo, repo_loaded{});
  }

  /// Adds the repo and gives it a permit.
  void start_fetch(uint64_t job) {
    write(update_outcome::done);
    permit(job);
  }

  void permit(uint64_t job) {
    auto said = std::make_shared<identity_answer>();
    said->fact->pds = "https://a.test";
    said->fact->signing_key = test_repo{1}.key().public_part().to_multikey();
    said->fact->fetched_at = time.wall_now().seconds();
    const auto run_asker = [this](caf::event_based_actor* self,
                                  const begin_fetch& what) {
      self->request(repo, caf::infinite, what)
        .then([this](const job_ended& x) { ended.push_back(x); },
              [this](const caf::error&) { ++lost; });
    };
    keep(sys.spawn(run_asker, begin_fetch{shell_repo(1), job, said}));
  }

  /// Ends its update with this outcome.
  void end_update(update_outcome outcome) {
    const auto updates = journal.take<journal_update>();
    ASSERT_EQ(updates.size(), 1u);
    auto receipt = std::make_shared<storage::update_receipt>();
    receipt->outcome = outcome;
    tell(repo, repo_receipt{std::move(receipt)});
  }

  /// Makes it write, with this outcome.
  void write(update_outcome outcome) {
    tell(repo, add_repos{{shell_repo(1)}, {}});
    end_update(outcome);
  }

  /// Sends a command whose answer is counted.
  template <class Reply, class Command>
  void ask() {
    Command command;
    command.repos.push_back(shell_repo(1));
    const auto run_asker = [this](caf::event_based_actor* self,
                                  const Command& what) {
      self->request(repo, caf::infinite, what).then([this](const Reply&) {
        ++answered;
      });
    };
    keep(sys.spawn(run_asker, command));
  }

  /// Tells it that a relay's listing calls the account taken down.
  void list(uint32_t relay) {
    auto stream
      = quiet_upstream(relay, "https://relay" + std::to_string(relay), 1, 1);
    stream.relay = true;
    shared->upstreams.put(stream);
    repo_listed line;
    line.repo = shell_repo(1);
    line.account = storage::account_status::takendown;
    line.upstream = relay;
    tell(repo, line);
  }

  /// What ROUTER was told since the last call: the upstreams whose lines are
  /// not decided; 0: no line is any more.
  std::vector<uint32_t> undecided_upstreams() {
    std::vector<uint32_t> out;
    for (const auto& x : router.take<line_undecided>()) {
      EXPECT_EQ(x.repo, shell_repo(1));
      EXPECT_EQ(x.open, x.upstream != 0);
      out.push_back(x.upstream);
    }
    return out;
  }

  uint64_t bounced() const {
    return metrics->events[static_cast<size_t>(repo_counter::update_bounced)]
      ->value();
  }

  probe journal{sys};
  probe reader{sys};
  probe identity{sys};
  probe supervisor{sys};
  probe router{sys};
  std::shared_ptr<repo_metrics> metrics;
  repo_actor repo;
  size_t answered = 0;
  probe backfill{sys};
  std::vector<uint64_t> ordered; ///< Downloads that began.
  std::vector<job_ended> ended;
  size_t lost = 0; ///< Permits without an answer.
};

/// The lines of the log that are written during `run`.
template <class Function>
std::string logged(Function run) {
  log::configure(log::level::error, log::format::text);
  testing::internal::CaptureStderr();
  run();
  log::configure(log::level::off, log::format::text);
  return testing::internal::GetCapturedStderr();
}

// OPLOG-34: a defect, so an error in the log, a count, and the end of the actor
TEST_F(RepoShellTest, AnUpdateThatBouncesIsAnAlarm) {
  const auto lines = logged([this] {
    write(update_outcome::mismatch);
  });
  EXPECT_THAT(lines,
              testing::HasSubstr("repo_stopped did=" + shell_repo(1).str()));
  EXPECT_THAT(lines, testing::HasSubstr("the stored revision is not the one"));
  EXPECT_EQ(bounced(), 1u);
  tell(repo, add_repos{{shell_repo(1)}, {}});
  EXPECT_EQ(journal.count<journal_update>(), 0u) << "it is gone";
}

// A successor has the repo, which is normal.
TEST_F(RepoShellTest, AnUpdateOfAPredecessorIsNone) {
  EXPECT_EQ(logged([this] {
              write(update_outcome::fenced);
            }),
            "");
  EXPECT_EQ(bounced(), 0u);
}

// SYNC-02: an addition that is taken back has no update, so no answer waits for
// one
TEST_F(RepoShellTest, ARepoRemovedWhileItIsAddedAnswersEachCommand) {
  write(update_outcome::done);
  ask<remove_result, remove_repos>();
  ask<add_result, add_repos>();
  ask<remove_result, remove_repos>();
  EXPECT_EQ(answered, 0u);
  end_update(update_outcome::done);
  EXPECT_EQ(answered, 3u);
}

// SYNC-02: a repo that is added again during its removal is added when that is
// durable
TEST_F(RepoShellTest, ARepoAddedWhileItIsRemovedAnswersWhenItIsThere) {
  write(update_outcome::done);
  ask<remove_result, remove_repos>();
  ask<add_result, add_repos>();
  end_update(update_outcome::done);
  EXPECT_EQ(answered, 1u);
  end_update(update_outcome::done);
  EXPECT_EQ(answered, 2u);
}

// actors.md, Falling asleep: ROUTER counts the REPO among those of the upstream
// whose line keeps it awake
TEST_F(RepoShellTest, ItsRouterIsToldWhichListingIsNotDecided) {
  constexpr auto pause = 1s; // Shorter than `listing_grace`.
  const auto grace = repo_settings{}.listing_grace;
  write(update_outcome::done);
  list(7);
  EXPECT_THAT(undecided_upstreams(), testing::ElementsAre(7));
  pass(pause);
  list(8);
  EXPECT_THAT(undecided_upstreams(), testing::IsEmpty())
    << "the first still waits";
  pass(grace - pause);
  EXPECT_THAT(undecided_upstreams(), testing::ElementsAre(8));
  pass(pause);
  EXPECT_THAT(undecided_upstreams(), testing::ElementsAre(0));
}

// -- its BACKFILL -------------------------------------------------------------

// There are four messages after the wish: two for the look-up, and the permit
// by way of ROUTER. The download waits for nothing else, and beside it the REPO
// sends its row alone.
TEST_F(RepoShellTest, APermitBeginsTheDownload) {
  const auto others = [this] {
    return reader.left() + identity.left() + supervisor.left() + router.left();
  };
  write(update_outcome::done);
  const auto before = others();
  permit(7);
  EXPECT_THAT(ordered, testing::ElementsAre(7));
  EXPECT_EQ(journal.count<journal_update>(), 1u) << "`syncing` is under way";
  EXPECT_EQ(journal.left(), 0u);
  EXPECT_EQ(others(), before);
  EXPECT_EQ(ended.size(), 0u);
}

TEST_F(RepoShellTest, ABackfillThatCrashedIsAFailedFetch) {
  start_fetch(7);
  backfill.die();
  run();
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].job, 7u);
  EXPECT_EQ(ended[0].outcome.error().code, ec::cancelled);
}

TEST_F(RepoShellTest, ABackfillThatEndedInGoodOrderHasSaidHow) {
  start_fetch(7);
  backfill.end();
  run();
  EXPECT_EQ(ended.size(), 0u);
  tell(repo, repo_fetch_failed{7, fail(ec::unreachable), {}});
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].outcome.error().code, ec::unreachable);
}

TEST_F(RepoShellTest, AFetchThatTheRepoGivesUpEndsItsBackfill) {
  start_fetch(7);
  end_update(update_outcome::refused);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(backfill.count<job_cancelled>(), 1u);
}

// SYNC-11: no other actor would end it or return the permit
TEST_F(RepoShellTest, ARepoThatEndsGivesBackItsPermitAndEndsItsBackfill) {
  start_fetch(7);
  tell(repo, stop_actor{});
  EXPECT_EQ(lost, 1u);
  EXPECT_EQ(backfill.count<job_cancelled>(), 1u);
}

// SYNC-06
TEST_F(RepoShellTest, AFailedLookUpIsNotedAndAnswered) {
  write(update_outcome::done);
  auto said = std::make_shared<identity_answer>();
  said->fact = fail(ec::not_found, "no such DID");
  std::vector<std::string> reasons;
  const auto run_asker = [&](caf::event_based_actor* self,
                             const attend_repo& what) {
    self->request(repo, caf::infinite, what)
      .then([&](const repo_attended& x) {
        reasons.push_back(to_string(x.failed.value_or(error{})));
      });
  };
  keep(sys.spawn(run_asker, attend_repo{shell_repo(1), said}));
  EXPECT_THAT(reasons, testing::ElementsAre("not_found: no such DID"));
  const auto updates = journal.take<journal_update>();
  ASSERT_EQ(updates.size(), 1u);
  EXPECT_EQ(updates[0].update->row->status, storage::repo_status::error);
}

} // namespace
} // namespace weir::tests
