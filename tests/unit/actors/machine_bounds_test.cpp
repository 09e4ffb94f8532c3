#include "actors/consumer/limits.hpp"
#include "actors/journal/batch_machine.hpp"
#include "actors/journal/limits.hpp"
#include "actors/repo/repo_types.hpp"
#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/listing_machine.hpp"
#include "actors/support/limits.hpp"
#include "delivery_world.hpp"
#include "tests/unit/actors/identity_world.hpp"
#include "tests/unit/actors/supervisor_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// The default bounds of the machines, at their value and just above it. Other
// bounds are tested with their rules.
namespace weir::actors {

using namespace std::chrono_literals;

// -- JOURNAL ------------------------------------------------------------------

TEST(MachineBounds, ABatchHasSoManyUpdatesAndNotOneMore) {
  batch_machine<int> x;
  for (size_t i = 0; i <= limits::journal_updates_max; ++i)
    x.add(0, 1, false);
  EXPECT_EQ(x.take(false).size(), limits::journal_updates_max);
  EXPECT_EQ(x.take(false).size(), 1u);
}

TEST(MachineBounds, ABatchHasSoManyBytesAndNotOneMore) {
  for (const bool backfill : {false, true}) {
    const auto most = backfill ? limits::journal_backfill_bytes_max
                               : limits::journal_bytes_max;
    for (const size_t more : {0, 1}) {
      batch_machine<int> x;
      x.add(0, most - 1, backfill);
      x.add(0, 1 + more, backfill);
      EXPECT_EQ(x.take(false).size(), 2 - more);
    }
  }
}

TEST(MachineBounds, BackfillRestsAtSoManyFilesAndNotBefore) {
  const batch_machine<int> x;
  EXPECT_FALSE(x.rests(limits::level0_files_pause - 1));
  EXPECT_TRUE(x.rests(limits::level0_files_pause));
}

// -- SUPERVISOR ---------------------------------------------------------------

TEST(MachineBounds, SoManyHostsOfReposAreLookedUpAtOnce) {
  supervisor_machine x{{}};
  const steady_time now{1};
  const auto repo_of = [](size_t i) {
    return atproto::did::trusted("did:plc:n" + std::to_string(i));
  };
  size_t prepared = 0;
  for (size_t i = 0; i <= limits::fetch_preparing_max; ++i)
    prepared += x.on_wish(repo_of(i), storage::repo_status::pending, {},
                          std::chrono::seconds{0}, now)
                  .look_up.size();
  EXPECT_EQ(prepared, limits::fetch_preparing_max);
  x.on_identity({repo_of(0), fail(ec::not_found)}, now);
  prepared += x.on_attended(repo_of(0), now).look_up.size();
  EXPECT_EQ(prepared, limits::fetch_preparing_max + 1);
}

TEST(MachineBounds, AHostRestsAfterSoManyFailuresAndNotBefore) {
  tests::supervisors::queue x;
  for (size_t i = 1; i < limits::host_failures_max; ++i)
    x.host(tests::supervisors::a_host, host_verdict::failed);
  x.ask(1, tests::supervisors::a_host);
  EXPECT_EQ(x.started.size(), 1u);
  x.end(1);
  x.host(tests::supervisors::a_host, host_verdict::failed);
  x.ask(2, tests::supervisors::a_host);
  EXPECT_EQ(x.started.size(), 1u);
}

// -- IDENTITY -----------------------------------------------------------------

TEST(MachineBounds, AnIdentityIsFreshUpToItsTime) {
  for (const auto more : {0s, 1s}) {
    tests::identities::resolver x;
    x.fetch(1);
    x.document(tests::identities::doc_of());
    x.pass(limits::identity_fresh - 1s + more);
    x.ask(2);
    EXPECT_EQ(x.last.fetch.size(), more == 0s ? 0u : 1u);
  }
}

TEST(MachineBounds, AFailureIsBelievedUpToItsTime) {
  for (const auto more : {0s, 1s}) {
    tests::identities::resolver x;
    x.fetch(1);
    x.document(fail(ec::not_found));
    x.pass(limits::lookup_pause_min - 1s + more);
    x.ask(2);
    EXPECT_EQ(x.last.fetch.size(), more == 0s ? 0u : 1u);
  }
}

// -- CONSUMER -----------------------------------------------------------------

namespace {

/// Many DIDs that all need to be read separately.
class starved_dids {
public:
  explicit starved_dids(size_t bytes_max = limits::consumer_bytes_max,
                        size_t count = 20) {
    delivery_options options;
    options.did_events_max = 1;
    options.patience = 0us;
    options.bytes_max = bytes_max;
    world.emplace(options);
    world->connect(1);
    std::vector<storage::op_id> first;
    for (size_t i = 0; i < count; ++i)
      first.push_back(world->append(tests::did_number(i), 2, false));
    world->publish();
    world->begin(world->machine->on_acks(1, first, world->now));
  }

  std::optional<tests::delivery_world> world;
};

} // namespace

TEST(MachineBounds, SoManyDidsAreReadAtOnce) {
  const starved_dids x;
  EXPECT_EQ(x.world->did_pages.size(), limits::consumer_did_pages_max);
}

TEST(MachineBounds, APageOfADidTakesItsBytesOfTheWindow) {
  constexpr auto page = limits::consumer_did_page_bytes_max;
  EXPECT_EQ(starved_dids{2 * page}.world->did_pages.size(), 2u);
  EXPECT_EQ(starved_dids{2 * page - 1}.world->did_pages.size(), 1u);
}

TEST(MachineBounds, APageThatBroughtNothingIsRequestedAgainAfterItsDelay) {
  starved_dids one{limits::consumer_bytes_max, 1};
  auto& x = *one.world;
  ASSERT_EQ(x.did_pages.size(), 1u);
  const auto wish = x.did_pages.front();
  x.did_pages.clear();
  did_page nothing{wish.repo, wish.facts, wish.after, wish.through};
  nothing.end = false;
  x.begin(x.machine->on_did_page(nothing, x.now));
  x.pass(limits::empty_page_delay - 1us);
  EXPECT_EQ(x.did_pages_read, 0u);
  x.pass(1us);
  EXPECT_EQ(x.did_pages_read, 1u);
}

TEST(MachineBounds, AccountsThatAreNotActiveAreCheckedAtTheirInterval) {
  tests::delivery_world x;
  const auto repo = tests::did_number(1);
  x.append(repo, 5);
  x.append_account(repo, false);
  x.publish();
  x.connect(1);
  x.ack_all();
  x.pass(0s); // The first check.
  x.set_erased(repo);
  x.pass(limits::held_check_interval - 1us);
  EXPECT_EQ(x.machine->backlog(), 5u);
  x.pass(1s);
  EXPECT_EQ(x.machine->backlog(), 0u);
}

TEST(MachineBounds, AFullDidHoldsUpOthersForItsPatienceAndNoLonger) {
  delivery_options options;
  options.did_events_max = 1;
  tests::delivery_world x{options};
  x.connect(1);
  x.append(tests::did_number(1), 2, false);
  const auto other = x.append(tests::did_number(2));
  x.publish();
  x.pass(limits::consumer_patience - 1us);
  EXPECT_EQ(x.times_sent(other), 0u);
  x.pass(1us);
  EXPECT_EQ(x.times_sent(other), 1u);
}

TEST(MachineBounds, SoMuchIsRememberedOfParkedDidsAndNotOneMore) {
  // Each costs two: the DID, and its event that was sent.
  for (const size_t most : {3, 4, 5, 6}) {
    delivery_options options;
    options.parked_max = most;
    tests::delivery_world x{options};
    x.connect(1);
    for (size_t i = 0; i < 9; ++i)
      x.append(tests::did_number(i));
    x.publish();
    x.pass(limits::consumer_retry_timeout);
    EXPECT_EQ(x.did_pages_read, most / 2);
  }
}

} // namespace weir::actors
