#include "apps/weir/demo_proof.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/durable_consumer.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/patience.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <utility>

// Issue 2, "Accepted when": kill -9 at random moments; reliability.md P1, P3,
// P4, P5, P6; architecture.md 8, I1 to I6 and I9.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using simnet::fault_kind;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t accounts = 200;
constexpr uint64_t network_records = 20'000;
/// Live commits of all phases: without any, no ack can be confirmed.
constexpr double quiet_rate = 60;
constexpr double busy_rate = 400;

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const auto* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// What the kills of one phase met.
struct phase_tally {
  const char* name = "";
  size_t kills = 0;
  size_t starting = 0; ///< Before the node was ready.
  size_t fetching = 0; ///< With repos that were not synced.
  size_t behind = 0;   ///< With operations that were not settled.
};

class KillTest : public testing::Test {
protected:
  void run_phase(phase_tally& tally, size_t kills);
  void kill_once(phase_tally& tally);
  node_addresses start_in(program& node, milliseconds time);
  void fall_behind(const node_addresses& at);
  void inspect(phase_tally& tally);
  void next_fault();
  void slow_down(size_t kills);
  void finish();
  void check_file();
  void check_store();
  void report() const;

  bool toss() { return random->below(2) == 0; }

  const uint64_t kills = number_from("KILLS", 10);
  const uint64_t seed = number_from("SEED", 1);
  const std::unique_ptr<random_source> random = seeded_random(seed);
  const temp_dir dir;
  const std::string data = dir.at("data");
  const std::string taken = dir.at("taken");
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
  followed_network net{seed, accounts, network_records};
  durable_consumer consumer{taken, seed};
  phase_tally backfill{"backfill"};
  phase_tally live{"live"};
  phase_tally delivery{"delivery"};
  size_t faults_done = 0;
};

/// Makes fetches so slow that the backfill lasts for that many lives.
void KillTest::slow_down(size_t lives) {
  constexpr double life_seconds = 0.7;
  constexpr double parallel = 8;
  simnet::fault x;
  x.kind = fault_kind::slow_repo;
  x.count = 0; // All.
  x.time = milliseconds{static_cast<int64_t>(
    1000 * life_seconds * static_cast<double>(lives) * parallel / accounts)};
  ASSERT_TRUE(net.life().faults().inject(x));
}

/// One trouble after the other, round and round. A handle change is long past
/// when a window is lost: nothing else would tell it.
void KillTest::next_fault() {
  constexpr size_t lost_commits = 20;
  static constexpr std::array kinds{
    fault_kind::drop_connection, fault_kind::bad_signature,
    fault_kind::broken_chain,    fault_kind::rotate_key,
    fault_kind::lose_window,     fault_kind::deactivate,
    fault_kind::take_down,       fault_kind::change_handle,
    fault_kind::wrong_prev_data, fault_kind::migrate,
    fault_kind::reactivate,      fault_kind::remove,
    fault_kind::lose_silently,   fault_kind::restore};
  simnet::fault x;
  x.kind = kinds[faults_done++ % kinds.size()];
  if (x.kind == fault_kind::lose_window || x.kind == fault_kind::lose_silently)
    x.count = lost_commits;
  const auto done = net.life().faults().inject(x);
  ASSERT_TRUE(done) << to_string(x.kind) << ": " << done.error().context;
  // Its new host claims a revision that only the next commit makes true.
  if (x.kind == fault_kind::migrate)
    net.life().traffic().post(*net.life().truth().find(done->dids.front()));
}

/// One life of the node. It ends at a moment drawn before: so long after its
/// start, or after so many events.
void KillTest::kill_once(phase_tally& tally) {
  constexpr uint64_t life_ms_max = 900;
  constexpr uint64_t events_max = 2'000;
  const auto by_events = toss();
  const auto events = by_events ? 1 + random->below(events_max) : SIZE_MAX;
  const milliseconds length{by_events ? 3 * life_ms_max
                                      : random->below(life_ms_max)};
  const auto forgetful = toss();
  const auto late = toss();
  auto end = steady_clock::now() + length;
  program node{net.arguments(data, {"--consumer-retry", "60s"})};
  const auto ready = start_in(
    node, &tally == &delivery ? milliseconds{node_patience} : length);
  if (!ready.data.empty() && &tally == &delivery) {
    fall_behind(ready);
    end = steady_clock::now() + length;
  }
  if (!ready.data.empty()) {
    consumer.connect(web->transport(), ready.data, forgetful, late);
    consumer.wait_for(events, end);
    EXPECT_FALSE(consumer.cut_off()) << tail_of(node.errors());
  } else {
    ++tally.starting;
  }
  node.send(SIGKILL);
  ASSERT_EQ(node.wait(10s), -SIGKILL) << "it had ended by itself\n"
                                      << tail_of(node.errors());
  consumer.end_connection();
  inspect(tally);
  if (HasFailure())
    std::cout << tail_of(node.errors()) << std::endl;
}

node_addresses KillTest::start_in(program& node, milliseconds time) {
  return parse_ready(node.read_line(time).value_or(""));
}

/// Lets the log grow while the application is away.
void KillTest::fall_behind(const node_addresses& at) {
  constexpr size_t events = 1'500;
  net.life().traffic().make(events);
  EXPECT_TRUE(eventually(node_patience, [&] {
    return status_of(*web, at).outbox >= events / 2;
  }));
}

/// The store that is left must be whole, and have what was confirmed.
void KillTest::inspect(phase_tally& tally) {
  const auto store = store_left::read(data);
  EXPECT_EQ(store.findings, "");
  consumer.check_acks(store, false);
  EXPECT_EQ(consumer.wrongs(), "");
  ++tally.kills;
  tally.fetching += store.synced < store.repos;
  tally.behind += store.acked.count() < store.operations;
}

void KillTest::run_phase(phase_tally& tally, size_t count) {
  while (tally.kills < count && !HasFailure()) {
    if (&tally == &live)
      next_fault();
    kill_once(tally);
    if (HasFailure())
      std::cout << "kill " << tally.kills << " of phase " << tally.name
                << ", SEED=" << seed << std::endl;
  }
}

/// The last start: everything converges.
void KillTest::finish() {
  net.life().set_rate(0);
  program node{net.arguments(data, {"--consumer-retry", "60s"})};
  const auto ready = start_in(node, node_patience);
  ASSERT_NE(ready.data, "") << tail_of(node.errors());
  consumer.connect(web->transport(), ready.data, false, true);
  std::string difference;
  // Events of accounts that are not active stay in the outbox.
  uint64_t waiting = UINT64_MAX;
  const auto equal = eventually(node_patience, [&] {
    const auto before = std::exchange(waiting, status_of(*web, ready).outbox);
    if (waiting != before)
      return false;
    consumer.read([&](const apps::event_copy& copy) {
      difference = net.difference(copy);
    });
    return difference.empty();
  });
  EXPECT_TRUE(equal) << difference << "outbox " << waiting << "\n"
                     << tail_of(node.errors());
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(10s), 0) << tail_of(node.errors());
  consumer.end_connection();
  consumer.check_acks(store_left::read(data), true);
}

/// What the application has on disk, and nothing else: no id has two contents,
/// and its union, folded per record, is the network.
void KillTest::check_file() {
  std::map<uint64_t, std::string> contents;
  apps::event_copy copy;
  size_t other = 0;
  event_file::read(
    taken, [&](uint64_t id, std::string_view hash, std::string_view event) {
      const auto [known, ignored] = contents.try_emplace(id, hash);
      other += known->second != hash;
      copy.take(event, {});
    });
  EXPECT_EQ(other, 0u);
  EXPECT_EQ(copy.counts().conflicts, 0u);
  EXPECT_EQ(copy.counts().out_of_order, 0u);
  EXPECT_EQ(copy.counts().unreadable, 0u);
  EXPECT_EQ(net.difference(copy), "");
  storage::database_options where;
  where.directory = data;
  where.access = storage::access_mode::read_only;
  const auto db = storage::database::open(std::move(where)).value();
  const auto log = apps::check_delivery(*db, copy).value();
  EXPECT_EQ(log.lost, 0u);
  EXPECT_EQ(log.altered, 0u);
  EXPECT_EQ(log.invented, 0u);
}

void KillTest::check_store() {
  const auto x
    = run_program({"verify", data, "--against", net.urls().relay, "--strict"});
  EXPECT_EQ(x.status, 0) << x.output << x.errors;
}

void KillTest::report() const {
  for (const auto* x : {&backfill, &live, &delivery})
    std::cout << x->name << ": " << x->kills << " kills, " << x->starting
              << " while starting, " << x->fetching
              << " with repos not synced, " << x->behind
              << " with operations not settled\n";
  const auto x = consumer.counts();
  std::cout << "faults " << faults_done << ", events " << x.taken
            << ", came again " << x.again << ", of them with an ack in doubt "
            << x.in_doubt << ", acks confirmed before a kill " << x.confirmed
            << ", SEED=" << seed << std::endl;
}

} // namespace

TEST_F(KillTest, NothingIsLostOrToldTwiceWhateverMomentItDies) {
  ASSERT_GE(kills, 3u);
  const auto third = kills / 3;
  net.life().set_rate(quiet_rate);
  slow_down(kills - 2 * third);
  run_phase(backfill, kills - 2 * third);
  net.life().requests().clear(simnet::request_fault::delay);
  net.life().set_rate(busy_rate);
  run_phase(live, third);
  net.life().set_rate(quiet_rate);
  run_phase(delivery, third);
  report();
  ASSERT_FALSE(HasFailure());
  finish();
  check_file();
  check_store();
  EXPECT_GT(backfill.fetching, 0u) << "no kill came during the backfill";
  EXPECT_GT(delivery.behind, 0u) << "no kill came during delivery";
  EXPECT_GT(consumer.counts().confirmed, 0u);
  EXPECT_EQ(consumer.wrongs(), "");
}

TEST_F(KillTest, ANodeThatEndsInOrderForgetsNoAck) {
  constexpr size_t lives = 6;
  net.life().set_rate(busy_rate);
  for (size_t i = 0; i < lives && !HasFailure(); ++i) {
    program node{net.arguments(data, {"--consumer-retry", "60s"})};
    const auto ready = start_in(node, node_patience);
    ASSERT_NE(ready.data, "") << tail_of(node.errors());
    fall_behind(ready);
    consumer.connect(web->transport(), ready.data, false, false);
    consumer.wait_for(1 + random->below(3'000), steady_clock::now() + 3s);
    node.send(SIGTERM);
    ASSERT_EQ(node.wait(10s), 0) << tail_of(node.errors());
    consumer.end_connection();
    const auto store = store_left::read(data);
    EXPECT_EQ(store.findings, "");
    consumer.check_acks(store, true);
    EXPECT_EQ(consumer.wrongs(), "");
  }
  const auto x = consumer.counts();
  EXPECT_GT(x.confirmed, 0u);
  std::cout << "events " << x.taken << ", acks shown before an end "
            << x.confirmed << ", came again with an ack in doubt " << x.in_doubt
            << std::endl;
}

} // namespace weir::tests
