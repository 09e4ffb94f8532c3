#include "actors/node/watches.hpp"
#include "actors/node/limits.hpp"
#include "actors/repo/repo_outbox.hpp"
#include "actors/support/completeness.hpp"
#include "actors/support/limits_health.hpp"
#include "actors/support/store_readers.hpp"
#include "messages/backfill.hpp"
#include "messages/journal.hpp"
#include "storage/log/tail_cache.hpp"
#include "tests/unit/actors/shell_fixture.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

// architecture.md, A wrong clock and Health: NODE's health watch.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::IsEmpty;
using testing::SizeIs;

/// A clock that the test sets.
class set_clock final : public clock {
public:
  explicit set_clock(const clock& inner) : inner_(inner) {
    // nop
  }

  steady_time steady_now() const noexcept override {
    return inner_.steady_now();
  }

  wall_time wall_now() const noexcept override {
    return inner_.wall_now() + shift;
  }

  std::chrono::microseconds shift{0};

private:
  const clock& inner_;
};

class HealthWatchTest : public ShellFixture {
protected:
  HealthWatchTest() {
    shared->time = &hands;
    shared->signers.begin(1, 1);
    home->readers.push_back(reader.as<reader_actor>());
    shared->add_router(router.as<router_actor>());
    shared->supervisor = supervisor.as<supervisor_actor>();
    keep(spawn_health_watch(sys, shared));
    first_jobs = reader.take<reader_job>();
  }

  void sign(size_t signers, std::chrono::microseconds ahead) {
    const auto now = hands.wall_now();
    for (size_t i = 0; i < signers; ++i)
      shared->signers.on_signed({1, true, i, i, now + ahead}, hands.steady_now(),
                                now);
  }

  set_clock hands{time};
  probe reader{sys};
  probe router{sys};
  probe supervisor{sys};
  std::vector<reader_job> first_jobs; ///< Jobs that the start requested.
};

/// The row of a repo that waits for its retry.
storage::repo_update failed_repo(size_t i, const std::string& why) {
  storage::repo_update out;
  out.repo = shell_repo(i);
  out.row.emplace();
  out.row->status = storage::repo_status::error;
  out.row->error = why;
  out.row->next_retry = 4'000'000'000;
  return out;
}

/// The row of a repo with an account that the directory knows.
storage::repo_update synced_repo(const std::string& name,
                                 storage::account_status account) {
  storage::repo_update out;
  out.repo = atproto::did::trusted("did:plc:" + name);
  out.row.emplace();
  out.row->status = storage::repo_status::synced;
  out.row->account = account;
  out.row->pds = "https://pds.test";
  return out;
}

storage::repo_update synced_repo(char name, storage::account_status account) {
  return synced_repo(std::string(24, name), account);
}

} // namespace

// limits::health_known_max: after a start nothing was looked up yet
TEST_F(HealthWatchTest, ItMeasuresTheDirectoryByThoseThatEarlierLivesHad) {
  using storage::account_status;
  test_store store;
  storage::tail_cache tail{1};
  store_readers rows{*store.db, *store.names, tail};
  shared->stores = {shared->places(), {&rows}};
  auto lost = synced_repo(std::string(23, '2') + '3', account_status::active);
  lost.row->status = storage::repo_status::desync;
  store.commit(std::move(lost));
  store.commit(synced_repo('2', account_status::deactivated));
  store.commit(synced_repo('3', account_status::active));
  ASSERT_THAT(first_jobs, SizeIs(1));
  first_jobs[0].run(rows);
  const auto asked = shared->health.with([this](health_machine& x) {
    return x.look({}, {}, hands.steady_now(), hands.wall_now()).probe;
  });
  EXPECT_EQ(asked, synced_repo('3', account_status::active).repo);
  shared->health.with([this](health_machine& x) {
    for (uint64_t i = 0; i < limits::health_failures_min; ++i)
      x.on_fetch(i, "https://bad.test", "no", hands.steady_now());
    x.look({}, {}, hands.steady_now(), hands.wall_now());
  });
  const auto findings = shared->health.findings();
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].level, health_level::degraded) << "another was well";
}

// A user who registers many names close together, behind each first letter,
// does not own all the accounts by which the directory is measured.
TEST_F(HealthWatchTest, AccountsOfOneThatChoseItsNamesAreNotTheMeasure) {
  constexpr std::string_view letters = "234567abcdefghijklmnopqrstuvwxyz";
  test_store store;
  storage::tail_cache tail{1};
  store_readers rows{*store.db, *store.names, tail};
  shared->stores = {shared->places(), {&rows}};
  const auto put = [&](const std::string& name) {
    store.commit(synced_repo(name, storage::account_status::active));
  };
  for (const char first : letters) {
    for (const char last : letters.substr(0, limits::health_known_max))
      put(first + std::string(22, '2') + last);
    for (const char second : letters.substr(8))
      put(std::string{first, second} + std::string(22, 'm'));
  }
  ASSERT_THAT(first_jobs, SizeIs(1));
  first_jobs[0].run(rows);
  size_t others = 0;
  for (size_t i = 0; i < limits::health_known_max; ++i) {
    const auto asked = shared->health.with([this](health_machine& x) {
      return x.look({}, {}, hands.steady_now(), hands.wall_now()).probe;
    });
    ASSERT_TRUE(asked);
    others += asked->str().ends_with("mm") ? 1 : 0;
  }
  EXPECT_GE(others, limits::health_known_max / 2);
}

// When a document names no host, no name is reported
TEST_F(HealthWatchTest, WhyCommitsAreRefusedIsSaidInWords) {
  const auto said = [this](const refused_commit& x) {
    shared->health.with([](health_machine& y) { y = health_machine{}; });
    for (size_t i = 0; i < limits::health_failures_min; ++i)
      tell_news({{}, {x}}, shell_repo(i), i, "https://a.test", *shared);
    upstream_view stream;
    stream.id = 1;
    stream.connected = true;
    return shared->health.with([&](health_machine& y) {
      y.look({stream}, {}, hands.steady_now(), hands.wall_now());
      return y.findings().at(0).error;
    });
  };
  const std::string most = "most of its commits are refused: ";
  EXPECT_EQ(said({1, {}, true, ""}),
            most + "wrong_host: the account's document names no host");
  EXPECT_EQ(said({1, {}, true, "https://b.test"}),
            most + "wrong_host: the account's document names https://b.test");
  EXPECT_EQ(said({1, {atproto::verdict::bad_shape, "", {}}}),
            most + "bad_shape");
  EXPECT_EQ(said({1, {atproto::verdict::bad_shape, "cut off", {}}}),
            most + "bad_shape: cut off");
}

// limits::health_check_interval
TEST_F(HealthWatchTest, AClockInDoubtHoldsIntakeUntilItIsSetRight) {
  sign(limits::clock_signers_min, 1h);
  EXPECT_TRUE(shared->intake.reads());
  pass(limits::health_check_interval);
  EXPECT_FALSE(shared->intake.reads());
  EXPECT_TRUE(shared->intake.takes_requests());
  EXPECT_THAT(shared->intake.reasons(), SizeIs(1));
  ASSERT_THAT(shared->health.findings(), SizeIs(1));
  EXPECT_EQ(shared->health.findings()[0].cause, health_cause::clock);
  EXPECT_EQ(reader.count<reader_job>(), 0u);
  hands.shift = 1h;
  pass(limits::health_check_interval - 1us);
  EXPECT_FALSE(shared->intake.reads());
  pass(1us);
  EXPECT_TRUE(shared->intake.reads());
  EXPECT_THAT(shared->intake.reasons(), IsEmpty());
  EXPECT_THAT(shared->health.findings(), IsEmpty());
}

// Nothing that arrives is stored meanwhile, so no copy is known to be whole.
TEST_F(HealthWatchTest, WhileAWriteHangsNoCopyIsComplete) {
  upstream_view stream;
  stream.id = 1;
  stream.relay = stream.connected = stream.live = stream.caught_up = true;
  stream.whole = true;
  stream.quiet_since = steady_time{};
  shared->upstreams.put(stream);
  const auto is_live = [this] {
    return completeness::accounting(shared->upstreams, "https://pds.test",
                                    hands.steady_now(), hands.wall_now())
      .live;
  };
  pass(1min);
  EXPECT_TRUE(is_live());
  home->stats.writes_since = hands.steady_now().micros;
  pass(limits::health_write_max - 1us);
  EXPECT_TRUE(is_live());
  pass(limits::health_check_interval);
  EXPECT_FALSE(is_live());
  ASSERT_THAT(shared->health.findings(), SizeIs(1));
  EXPECT_EQ(shared->health.findings()[0].cause, health_cause::write);
  home->stats.writes_since = 0;
  pass(limits::health_check_interval);
  EXPECT_TRUE(is_live());
  EXPECT_THAT(shared->health.findings(), IsEmpty());
}

// What was listed before was checked with a clock that was behind.
TEST_F(HealthWatchTest, AClockThatIsSetForwardHasAllListedAnew) {
  pass(limits::health_check_interval);
  hands.shift = -1h;
  pass(limits::health_check_interval);
  EXPECT_EQ(supervisor.count<clock_corrected>(), 0u);
  hands.shift = {};
  pass(limits::health_check_interval);
  EXPECT_EQ(supervisor.count<clock_corrected>(), 1u);
  pass(limits::health_check_interval);
  EXPECT_EQ(supervisor.count<clock_corrected>(), 0u);
}

// limits::clock_retry_page
TEST_F(HealthWatchTest, AClockThatWasSetForwardFreesWhoWaitedForIt) {
  test_store store;
  storage::tail_cache tail{1};
  store_readers rows{*store.db, *store.names, tail};
  shared->stores = {shared->places(), {&rows}};
  for (size_t i = 0; i <= limits::clock_retry_page; ++i)
    store.commit(failed_repo(i, "verification_failed: future_rev: no"));
  store.commit(failed_repo(9'999, "unreachable: refused"));
  hands.shift = 1h;
  pass(limits::health_check_interval);
  for (const auto part : {limits::clock_retry_page, size_t{1}}) {
    auto jobs = reader.take<reader_job>();
    ASSERT_THAT(jobs, SizeIs(1));
    jobs[0].run(rows);
    run();
    const auto freed = router.take<resync_repos>();
    ASSERT_THAT(freed, SizeIs(1));
    EXPECT_THAT(freed[0].repos, SizeIs(part));
  }
  pass(limits::health_check_interval);
  EXPECT_EQ(reader.count<reader_job>(), 0u);
  hands.shift = 0s;
  pass(limits::health_check_interval);
  EXPECT_EQ(reader.count<reader_job>(), 0u) << "back";
}

} // namespace weir::tests
