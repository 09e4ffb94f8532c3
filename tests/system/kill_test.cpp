#include "tests/support/temp_dir.hpp"
#include "tests/system/kill_groups.hpp"
#include "tests/system/kill_network.hpp"
#include "tests/system/patience.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <set>

// testing.md, Kills; architecture.md I1 to I6 and I9.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr uint64_t progress_step = 250;

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const auto* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Kills of all groups together.
uint64_t kills_wanted() {
  return number_from("KILLS", kills_by_default);
}

/// The states of the node when it was killed.
struct kill_tally {
  size_t kills = 0;
  size_t starting = 0; ///< Killed before the node was ready.
  size_t fetching = 0; ///< Killed with repos that were not synced.
  size_t behind = 0;   ///< Killed with operations that were not settled.
  size_t in_order = 0; ///< Orderly stops between the kills.
  std::map<crash_point, size_t> at;
};

class KillTest : public testing::TestWithParam<kill_group> {
protected:
  void live_once();
  void live_to_a_point(program& node, const kill_target& at);
  void live_for_a_while(program& node);
  void end_in_order(program& node);
  void trouble();
  bool prepare(const kill_target& x);
  const kill_target* choose_target();
  uint64_t passage_of(const kill_target& x);
  std::vector<std::string> own_options() const;
  std::vector<std::string> options(const kill_target* at);
  node_addresses connect(program& node, milliseconds time);
  void inspect();
  void live_until_equal();
  void report() const;

  bool toss(uint64_t one_of = 2) { return random->below(one_of) == 0; }

  const uint64_t kills = kills_wanted() / kill_groups().size();
  const uint64_t seed = number_from("SEED", 1);
  const std::unique_ptr<random_source> random = seeded_random(seed);
  const temp_dir dir;
  const std::string data = dir.at("data");
  const std::string taken = dir.at("taken");
  kill_network net{seed, kills, GetParam().trouble};
  durable_consumer consumer{taken, seed};
  kill_tally tally;
  size_t targets_done = 0;
  std::map<crash_point, size_t> tries;
};

/// Chooses the targets in turn, so that each gets its share; null for half of
/// the lives.
const kill_target* KillTest::choose_target() {
  if (toss())
    return nullptr;
  const auto& all = GetParam().targets;
  return &all[targets_done++ % all.size()];
}

/// A point that was tried before and never reached is tried at its first
/// passage.
uint64_t KillTest::passage_of(const kill_target& x) {
  const auto any = 1 + random->below(x.passages);
  return tries[x.at]++ == 0 || tally.at.contains(x.at) ? any : 1;
}

/// The options of each life of this network.
std::vector<std::string> KillTest::own_options() const {
  std::vector<std::string> out{"--consumer-retry", "60s"};
  if (!GetParam().listed)
    out.insert(out.end(), {"--listing-interval", "24h", "--listing-grace", "1h",
                           "--listing-requests-per-hour", "1"});
  return out;
}

/// Draws options of `weir run` that must not change any promise.
std::vector<std::string> KillTest::options(const kill_target* at) {
  auto out = own_options();
  const auto add = [&](const char* name, std::string value) {
    if (!toss())
      return;
    out.emplace_back(name);
    out.push_back(std::move(value));
  };
  const auto one_of = [&](uint64_t first, uint64_t last) {
    return std::to_string(first + random->below(last - first + 1));
  };
  add("--threads", one_of(1, 4));
  add("--readers", one_of(1, 3));
  if (at != nullptr && at->at == crash_point::spool_written) {
    // So many fetches share the memory for CARs that each must use its file.
    out.insert(out.end(),
               {"--sync-parallelism", "256", "--memory-limit", "8GiB"});
  } else {
    add("--sync-parallelism", one_of(1, 16));
    add("--memory-limit", one_of(512, 2'048) + "MiB");
  }
  add("--sync-per-host", one_of(1, 8));
  add("--consumer-window-events", one_of(64, 2'000));
  add("--consumer-window-bytes", one_of(64, 4'096) + "KiB");
  if (GetParam().refetches && toss()) {
    out.emplace_back("--collections");
    out.emplace_back("app.bsky.actor.*,app.bsky.feed.*,app.bsky.graph.*");
  }
  return out;
}

/// Prepares what reaching a point needs; false when it cannot be reached any
/// more.
bool KillTest::prepare(const kill_target& x) {
  using enum crash_point;
  constexpr size_t tries_alone = 4;
  // Nothing is synced while the directory is silent, which it is mostly in one
  // of the groups. When chance has not helped, it answers.
  if (x.at == synced_batch && !tally.at.contains(x.at)
      && tries[x.at] >= tries_alone)
    net.end_faults();
  const bool erases = x.at == erase_batch || x.at == erase_written
                      || x.at == sweep_step || x.at == sweep_written
                      || x.at == sweep_compacted;
  return !erases || net.remove_one();
}

/// Causes trouble before a life, sometimes a lot.
void KillTest::trouble() {
  constexpr uint64_t burst_max = 100;
  if (toss())
    net.next_fault();
  if (toss(3))
    net.life().traffic().make(1 + random->below(burst_max));
}

/// One life of the node, which ends at a named point or after a random time.
void KillTest::live_once() {
  const auto* at = choose_target();
  trouble();
  if (at != nullptr && !prepare(*at))
    at = nullptr;
  constexpr double events_a_second = 60;
  std::vector<std::string> variables;
  if (at != nullptr)
    variables.push_back(
      "WEIR_CRASH_AT="
      + std::string{crash_point_names[static_cast<size_t>(at->at)]} + ':'
      + std::to_string(passage_of(*at)));
  net.life().set_rate(events_a_second);
  program node{net.arguments(data, options(at)), variables};
  if (at != nullptr)
    live_to_a_point(node, *at);
  else if (toss(6))
    end_in_order(node);
  else
    live_for_a_while(node);
  net.life().set_rate(0); // Traffic stops, so that the check has an end.
  consumer.end_connection();
  inspect();
  if (HasFailure())
    std::cout << "kill " << tally.kills << ", SEED=" << seed << "\n"
              << tail_of(node.errors()) << std::endl;
}

node_addresses KillTest::connect(program& node, milliseconds time) {
  const auto ready = parse_ready(node.read_line(time).value_or(""));
  if (!ready.data.empty())
    consumer.connect(net.transport(), ready.data, toss(), toss());
  return ready;
}

/// The node ends by itself. When it does not pass the point in time, it is
/// killed like any other.
void KillTest::live_to_a_point(program& node, const kill_target& at) {
  const auto ready = connect(node, node_patience);
  consumer.wait_for(SIZE_MAX, steady_clock::now() + at.patience);
  const auto by_itself = ready.data.empty() || consumer.cut_off();
  if (by_itself)
    ++tally.at[at.at];
  else
    node.send(SIGKILL);
  tally.starting += ready.data.empty();
  ASSERT_EQ(node.wait(node_patience), -SIGKILL) << tail_of(node.errors());
  ++tally.kills;
}

void KillTest::live_for_a_while(program& node) {
  constexpr uint64_t life_ms_max = 500 * slowness;
  constexpr uint64_t events_max = 1'000;
  const auto by_events = toss();
  const auto events = by_events ? 1 + random->below(events_max) : SIZE_MAX;
  const milliseconds length{by_events ? 2 * life_ms_max
                                      : random->below(life_ms_max)};
  const auto end = steady_clock::now() + length;
  const auto ready = connect(node, length);
  if (!ready.data.empty())
    consumer.wait_for(events, end);
  tally.starting += ready.data.empty();
  EXPECT_FALSE(!ready.data.empty() && consumer.cut_off());
  node.send(SIGKILL);
  ASSERT_EQ(node.wait(node_patience), -SIGKILL) << "it had ended by itself";
  ++tally.kills;
}

void KillTest::end_in_order(program& node) {
  constexpr uint64_t life_ms_max = 300;
  const auto ready = connect(node, node_patience);
  ASSERT_NE(ready.data, "");
  consumer.wait_for(SIZE_MAX, steady_clock::now()
                                + milliseconds{random->below(life_ms_max)});
  node.send(SIGTERM);
  ASSERT_EQ(node.wait(node_patience), 0);
  ++tally.in_order;
}

/// Checks that the store that is left is consistent and has every confirmed
/// ack.
void KillTest::inspect() {
  const auto store = store_left::read(data);
  EXPECT_EQ(store.findings, "");
  consumer.check_acks(store, false);
  EXPECT_EQ(consumer.wrongs(), "");
  tally.fetching += store.synced < store.repos;
  tally.behind += store.acked_count() < store.operations;
}

/// Lets everything converge.
void KillTest::live_until_equal() {
  net.end_faults();
  program node{net.arguments(data, own_options())};
  const auto ready = parse_ready(node.read_line(node_patience).value_or(""));
  ASSERT_NE(ready.data, "") << tail_of(node.errors());
  consumer.connect(net.transport(), ready.data, false, true);
  EXPECT_EQ(net.converge(consumer, ready), "") << tail_of(node.errors());
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0) << tail_of(node.errors());
  consumer.end_connection();
  consumer.check_acks(store_left::read(data), true);
  EXPECT_EQ(consumer.wrongs(), "");
}

void KillTest::report() const {
  std::cout << tally.kills << " kills, " << tally.starting
            << " while starting, " << tally.fetching
            << " with repos not synced, " << tally.behind
            << " with operations not settled; " << tally.in_order
            << " ends in order; at";
  for (const auto& x : GetParam().targets) {
    const auto known = tally.at.find(x.at);
    std::cout << ' ' << crash_point_names[static_cast<size_t>(x.at)] << ' '
              << (known == tally.at.end() ? 0 : known->second);
  }
  const auto x = consumer.counts();
  std::cout << "; faults " << net.faults_done() << ", events " << x.taken
            << ", came again " << x.again << ", of them with an ack in doubt "
            << x.in_doubt << ", acks confirmed before a kill " << x.confirmed
            << ", SEED=" << seed << std::endl;
}

} // namespace

TEST_P(KillTest, NothingIsLostOrToldTwiceWhateverMomentItDies) {
  if (GetParam().synced_first)
    live_until_equal();
  while (tally.kills < kills && !HasFailure()) {
    const auto before = tally.kills;
    live_once();
    if (tally.kills > before && tally.kills % progress_step == 0)
      std::cout << tally.kills << " kills" << std::endl;
  }
  report();
  ASSERT_FALSE(HasFailure());
  live_until_equal(); // The last life.
  net.check(consumer, taken, data);
  if (kills < enough_kills(GetParam()))
    return;
  for (const auto& x : GetParam().targets)
    EXPECT_TRUE(tally.at.contains(x.at))
      << "never died at " << crash_point_names[static_cast<size_t>(x.at)];
  EXPECT_GT(consumer.counts().confirmed, 0u);
}

INSTANTIATE_TEST_SUITE_P(Kills, KillTest, testing::ValuesIn(kill_groups()),
                         [](const auto& x) {
                           return std::string{x.param.name};
                         });

TEST(KillOrderTest, ANodeThatEndsInOrderForgetsNoAck) {
  constexpr size_t lives = 6;
  constexpr size_t burst = 1'000;
  const auto seed = number_from("SEED", 1);
  const auto random = seeded_random(seed);
  const temp_dir dir;
  kill_network net{seed, 0};
  durable_consumer consumer{dir.at("taken"), seed};
  net.life().set_rate(400);
  for (size_t i = 0; i < lives && !testing::Test::HasFailure(); ++i) {
    net.life().traffic().make(burst);
    program node{net.arguments(dir.at("data"), {"--consumer-retry", "60s"})};
    const auto ready = parse_ready(node.read_line(node_patience).value_or(""));
    ASSERT_NE(ready.data, "") << tail_of(node.errors());
    consumer.connect(net.transport(), ready.data, false, false);
    consumer.wait_for(1 + random->below(2 * burst), steady_clock::now() + 3s);
    node.send(SIGTERM);
    ASSERT_EQ(node.wait(node_patience), 0) << tail_of(node.errors());
    consumer.end_connection();
    const auto store = store_left::read(dir.at("data"));
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

/// The point that needs a full disk is tested in small_disk_test.cpp, and that
/// of a backup in backup_test.cpp.
TEST(KillPointTest, EveryCrashPointHasItsKills) {
  std::set<crash_point> all{crash_point::disk_resumed,
                            crash_point::backup_file};
  for (const auto& group : kill_groups())
    for (const auto& x : group.targets)
      all.insert(x.at);
  EXPECT_EQ(all.size(), crash_point_names.size());
}

/// With fewer kills a group could not show that it missed one of its points.
TEST(KillPointTest, EachGroupHasKillsEnoughForAllOfItsPoints) {
  for (const auto& x : kill_groups())
    EXPECT_GE(kills_by_default / kill_groups().size(), enough_kills(x))
      << x.name;
}

TEST(KillPointTest, AVariableThatNamesNoPointIsRefused) {
  const auto x = run_program({"--version"}, {"WEIR_CRASH_AT=nowhere:1"});
  EXPECT_EQ(x.status, 2);
  EXPECT_NE(x.errors.find("nowhere"), std::string::npos) << x.errors;
}

} // namespace weir::tests
