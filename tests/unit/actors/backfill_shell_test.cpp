#include "actors/backfill/limits.hpp"
#include "actors/node/actor_setup.hpp"
#include "actors/node/limits.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/support/limits_health.hpp"
#include "atproto/limits.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/actors/backfill_fixture.hpp"

// architecture.md, The stages: one fetch, its window and its answers.
namespace weir::tests {
namespace {

using storage::account_status;
using testing::ElementsAre;

} // namespace

// limits::fetch_window_bytes: credit for this many bytes, then for those that
// were taken in
TEST_F(BackfillShellTest, TheBodyIsReadThroughAWindow) {
  const auto of = repo_of(1);
  start(of);
  EXPECT_THAT(body->grants, ElementsAre(limits::fetch_window_bytes));
  EXPECT_EQ(held(), limits::fetch_window_bytes);
  head(200);
  piece(of.export_car());
  EXPECT_THAT(body->grants,
              ElementsAre(limits::fetch_window_bytes, of.export_car().size()));
  EXPECT_EQ(held(), limits::fetch_window_bytes + of.export_car().size());
}

// limits::fetch_progress_interval, and just before it; also when its host
// answers, and at the end
TEST_F(BackfillShellTest, ItSaysNowAndThenHowFarItIs) {
  const auto of = repo_of(1);
  start(of);
  EXPECT_EQ(supervisor.count<fetch_progress>(), 0u);
  head(200);
  auto told = supervisor.take<fetch_progress>();
  ASSERT_EQ(told.size(), 1u) << "others may wait for its permit";
  EXPECT_EQ(told[0].bytes, 0u);
  EXPECT_FALSE(told[0].received);
  const auto car = of.export_car();
  const bytes first{car.begin(), car.begin() + 10};
  const bytes second{car.begin() + 10, car.begin() + 30};
  const bytes rest{car.begin() + 30, car.end()};
  time.advance(limits::fetch_progress_interval - 1us);
  piece(first);
  EXPECT_EQ(supervisor.count<fetch_progress>(), 0u);
  time.advance(1us);
  piece(second);
  told = supervisor.take<fetch_progress>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].job, 9u);
  EXPECT_EQ(told[0].bytes, 30u);
  EXPECT_FALSE(told[0].received);
  piece(rest);
  end();
  told = supervisor.take<fetch_progress>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].bytes, car.size());
  EXPECT_TRUE(told[0].received);
}

// architecture.md, When memory runs short: this node's share counts, not the
// largest permitted one.
TEST_F(BackfillShellTest, WhatItHoldsCountsUpToItsShare) {
  const auto of = repo_of(100);
  backfill_environment env;
  env.bounds.spool_bytes_max = 1'000;
  env.bounds.index_entries_max = 100;
  const auto share
    = env.bounds.spool_bytes_max
      + env.bounds.index_entries_max * limits::walk_index_entry_bytes;
  ASSERT_GT(of.export_car().size(), share);
  start(of, env);
  head(200);
  piece(of.export_car());
  EXPECT_EQ(held(), limits::fetch_window_bytes + share);
}

// limits::job_chunks_max
TEST_F(BackfillShellTest, SoManyChunksAreOnTheirWayAndTheNextOneWaits) {
  const auto of = repo_of(limits::chunk_ops_max * (limits::job_chunks_max + 1));
  start(of);
  head(200);
  piece(of.export_car());
  end();
  EXPECT_EQ(repo.count<repo_chunk>(), limits::job_chunks_max);
  EXPECT_EQ(repo.count<repo_fetched>(), 0u);
  EXPECT_GT(held(), limits::job_chunks_max * limits::chunk_bytes_max);
  tell(backfill, chunk_stored{});
  EXPECT_EQ(repo.count<repo_chunk>(), 1u);
  EXPECT_EQ(repo.count<repo_fetched>(), 1u);
  const auto reports = supervisor.take<host_report>();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].what, host_verdict::fine);
  EXPECT_EQ(held(), 0u);
}

TEST_F(BackfillShellTest, AsManyChunksAsMayBeOnTheirWayNeedNoAnswer) {
  const auto of = repo_of(limits::chunk_ops_max * limits::job_chunks_max);
  start(of);
  head(200);
  piece(of.export_car());
  end();
  EXPECT_EQ(repo.count<repo_chunk>(), limits::job_chunks_max);
  EXPECT_EQ(repo.count<repo_fetched>(), 1u);
}

// protocol-coverage.md 5; limits::fetch_error_bytes_max
TEST_F(BackfillShellTest, SoMuchOfARefusalIsReadAndNotOneByteMore) {
  for (const size_t more : {0, 1}) {
    const std::string frame = R"({"error":"RepoTakendown","message":""})";
    auto text = frame;
    text.insert(
      frame.size() - 2,
      std::string(limits::fetch_error_bytes_max - frame.size() + more, 'x'));
    start(repo_of(1));
    head(400);
    for (size_t at = 0; at < text.size(); at += 1'000)
      piece(std::string_view{text}.substr(at, 1'000));
    end();
    const auto told = failure();
    EXPECT_EQ(told.account == account_status::takendown, more == 0);
    EXPECT_EQ(told.reason.code,
              more == 0 ? ec::account_inactive : ec::not_found);
  }
}

// A page of a proxy, for example: what came is said, but the body decides.
TEST_F(BackfillShellTest, ABodyThatIsNoCarIsNamedByItsType) {
  const auto failed = [this](std::string_view text, const std::string& type) {
    start(repo_of(1));
    head(200, 0s, type);
    piece(text);
    end();
    return failure().reason;
  };
  const auto page = failed("<html>", "text/html; charset=utf-8");
  EXPECT_EQ(page.code, ec::malformed);
  EXPECT_EQ(page.context, "not a CAR, sent as text/html; charset=utf-8");
  EXPECT_EQ(failed("<html>", "application/vnd.ipld.car").context, "not a CAR");
  EXPECT_EQ(failed("<html>", "").context, "not a CAR");
  const auto of = repo_of(1);
  const auto car = of.export_car();
  const auto part = as_text(car).substr(0, car.size() - 1);
  EXPECT_EQ(failed(part, "application/vnd.ipld.car").context,
            "bad_shape: CAR cut off");
}

TEST_F(BackfillShellTest, ACarOfAnyTypeIsRead) {
  const auto of = repo_of(1);
  start(of);
  head(200, 0s, "text/html");
  piece(of.export_car());
  end();
  EXPECT_EQ(repo.count<repo_fetched>(), 1u);
}

TEST_F(BackfillShellTest, ARateLimitIsTheHostsAndNotTheRepos) {
  start(repo_of(1));
  head(429, 40s);
  end();
  EXPECT_EQ(failure().reason.code, ec::rate_limited);
  const auto reports = supervisor.take<host_report>();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].what, host_verdict::rate_limited);
  EXPECT_EQ(reports[0].retry_after, 40s);
}

// architecture.md, Health: an answer that is not a repo is no success
TEST_F(BackfillShellTest, AnswersThatAreNoRepositoryAreFailures) {
  const auto fetch = [this](int status, std::string_view text) {
    shared->health.with([](health_machine& x) { x = health_machine{}; });
    for (size_t i = 1; i <= limits::health_failures_min; ++i) {
      start(test_repo{i});
      head(status);
      piece(text);
      end();
    }
    return shared->health.with([this](health_machine& x) {
      x.look({}, {}, time.steady_now(), time.wall_now());
      return x.findings().size();
    });
  };
  EXPECT_EQ(fetch(200, "<html>"), 1u);
  EXPECT_EQ(fetch(200, ""), 1u);
  EXPECT_EQ(fetch(404, "<html>"), 1u);
  EXPECT_EQ(fetch(400, R"({"error":"InvalidRequest"})"), 1u);
  EXPECT_EQ(fetch(401, R"({"error":"AuthMissing"})"), 1u);
  EXPECT_EQ(fetch(500, ""), 1u);
  EXPECT_EQ(fetch(429, ""), 0u);
  EXPECT_EQ(fetch(200, "\xff\xff\xff\xff\x0f"), 0u) << "too large for us";
  for (const auto* named :
       {"RepoNotFound", "RepoTakendown", "RepoDeactivated", "RepoSuspended"})
    EXPECT_EQ(fetch(400, R"({"error":")" + std::string{named} + R"("})"), 0u)
      << named;
}

// The host's clock is wrong, or ours: the cause is `clock`
TEST_F(BackfillShellTest, ARootOfTheFutureIsNoHostsFailure) {
  for (size_t i = 1; i <= limits::health_failures_min; ++i) {
    test_repo of{i};
    of.put("app.test.note/1", make_record("x"));
    of.commit();
    start(of);
    time = manual_clock{of.now() + -1h};
    head(200);
    piece(of.export_car());
    end();
    EXPECT_TRUE(failure().ahead.defined());
  }
  shared->health.with([this](health_machine& x) {
    x.look({}, {}, time.steady_now(), time.wall_now());
    EXPECT_THAT(x.findings(), testing::IsEmpty());
  });
}

TEST_F(BackfillShellTest, WhenItIsCancelledTheDownloadEnds) {
  start(repo_of(1));
  tell(backfill, job_cancelled{});
  EXPECT_TRUE(body->cancelled);
  EXPECT_EQ(repo.count<repo_fetch_failed>(), 0u) << "the REPO did it";
}

TEST_F(BackfillShellTest, WhenTheSupervisorCancelsItTheRepoHearsWhy) {
  start(repo_of(1));
  tell(backfill, job_cancelled{fail(ec::rate_limited, "others wait")});
  EXPECT_TRUE(body->cancelled);
  EXPECT_EQ(failure().reason.code, ec::rate_limited);
}

// SUPERVISOR measures its speed and may end it.
TEST_F(BackfillShellTest, TheSupervisorHearsThatItBegins) {
  start(repo_of(1));
  const auto begun = supervisor.take_with<fetch_begun, backfill_actor>();
  ASSERT_EQ(begun.size(), 1u);
  EXPECT_EQ(begun[0].first.job, 9u);
  EXPECT_TRUE(begun[0].second == backfill);
}

// -- spools -------------------------------------------------------------------

// limits::spool_memory_bytes_max, limits::backfill_bytes_max
TEST(SpoolsTest, ACarIsInMemoryUpToItsShareAndThenInAFile) {
  const temp_dir dir;
  node_config config;
  config.data_dir = dir.at("");
  for (const auto& [jobs, share] :
       std::initializer_list<std::pair<size_t, size_t>>{
         {1, limits::spool_memory_bytes_max},
         {limits::backfill_bytes_max / limits::spool_memory_bytes_max,
          limits::spool_memory_bytes_max},
         {limits::sync_parallelism_range.max,
          limits::backfill_bytes_max / limits::sync_parallelism_range.max}}) {
    config.sync_parallelism = jobs;
    const auto spools = make_spool_factory(config)();
    ASSERT_TRUE(spools.store->append(bytes(share)));
    EXPECT_FALSE(spools.on_disk()) << jobs;
    ASSERT_TRUE(spools.store->append(bytes(1)));
    EXPECT_TRUE(spools.on_disk()) << jobs;
  }
}

} // namespace weir::tests
