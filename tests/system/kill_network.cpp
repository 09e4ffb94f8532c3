#include "tests/system/kill_network.hpp"

#include "apps/demo/proof.hpp"
#include "tests/system/patience.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace weir::tests {

namespace {

using simnet::fault_kind;

constexpr size_t accounts_min = 40;
constexpr size_t kills_an_account = 50;
constexpr size_t records_an_account = 80;

simnet::traffic_mix mix_of(trouble_kind trouble) {
  simnet::traffic_mix out;
  if (trouble == trouble_kind::losses)
    out.handles = 0;
  return out;
}

/// A lost window includes everything that a slow node has not read. So with
/// such losses only faults occur that a listing or a fetch also shows.
const std::vector<fault_kind>& faults_of(trouble_kind trouble) {
  static const std::vector<fault_kind> losses{
    fault_kind::drop_connection, fault_kind::bad_signature,
    fault_kind::lose_window,     fault_kind::broken_chain,
    fault_kind::rotate_key,      fault_kind::lose_silently,
    fault_kind::wrong_prev_data};
  static const std::vector<fault_kind> usual{
    fault_kind::drop_connection, fault_kind::bad_signature,
    fault_kind::broken_chain,    fault_kind::rotate_key,
    fault_kind::deactivate,      fault_kind::take_down,
    fault_kind::change_handle,   fault_kind::wrong_prev_data,
    fault_kind::migrate,         fault_kind::reactivate,
    fault_kind::lose_silently,   fault_kind::restore};
  static const std::vector<fault_kind> silent_directory{
    fault_kind::directory_down,  fault_kind::rotate_key,
    fault_kind::migrate,         fault_kind::deactivate,
    fault_kind::directory_up,    fault_kind::drop_connection,
    fault_kind::directory_hang,  fault_kind::migrate,
    fault_kind::reactivate,      fault_kind::rotate_key,
    fault_kind::directory_up,    fault_kind::broken_chain,
    fault_kind::directory_stale, fault_kind::rotate_key,
    fault_kind::change_handle,   fault_kind::directory_up};
  switch (trouble) {
    case trouble_kind::losses:
      return losses;
    case trouble_kind::silent_directory:
      return silent_directory;
    default:
      return usual;
  }
}

bool is_of_directory(fault_kind x) {
  return x >= fault_kind::directory_down && x <= fault_kind::directory_up;
}

} // namespace

kill_network::kill_network(uint64_t seed, uint64_t kills, trouble_kind trouble)
  : accounts_(accounts_min + kills / kills_an_account), trouble_(trouble),
    net_(seed, accounts_, records_an_account * accounts_, mix_of(trouble)) {
  // nop
}

void kill_network::end_faults() {
  simnet::fault x;
  x.kind = fault_kind::directory_up;
  ASSERT_TRUE(life().faults().inject(x));
}

void kill_network::next_fault() {
  constexpr size_t lost_commits = 20;
  const auto& kinds = faults_of(trouble_);
  simnet::fault x;
  x.kind = kinds[faults_done_++ % kinds.size()];
  if (x.kind == fault_kind::lose_window || x.kind == fault_kind::lose_silently)
    x.count = lost_commits;
  if (is_of_directory(x.kind))
    x.count = 0; // Lasts until it is ended.
  const auto done = life().faults().inject(x);
  ASSERT_TRUE(done) << to_string(x.kind) << ": " << done.error().context;
  // Its new host lists a rev that only the next commit makes true.
  if (x.kind == fault_kind::migrate)
    life().traffic().post(*life().truth().find(done->dids.front()));
}

bool kill_network::remove_one() {
  if (removed_ >= accounts_ / 2)
    return false;
  ++removed_;
  simnet::fault x;
  x.kind = fault_kind::remove;
  return life().faults().inject(x).has_value();
}

std::string kill_network::converge(const durable_consumer& consumer,
                                   const node_addresses& at) {
  std::string difference;
  // Events of inactive accounts stay in the outbox.
  uint64_t waiting = UINT64_MAX;
  const auto equal = eventually(node_patience, [&] {
    const auto before = std::exchange(waiting, status_of(*web_, at).outbox);
    const auto work = work_of(*web_, at);
    if (waiting != before || work.open + work.failed > 0)
      return false;
    consumer.read([&](const apps::event_copy& copy) {
      difference = net_.difference(copy);
    });
    return difference.empty();
  });
  return equal ? std::string{}
               : difference + "outbox " + std::to_string(waiting);
}

void kill_network::check(const durable_consumer& consumer,
                         const std::string& file, const std::string& data_dir) {
  EXPECT_EQ(consumer.wrongs(), "");
  std::map<uint64_t, std::string> contents;
  apps::event_copy copy;
  size_t other = 0;
  event_file::read(
    file, [&](uint64_t id, std::string_view hash, std::string_view event) {
      const auto [known, ignored] = contents.try_emplace(id, hash);
      other += known->second != hash;
      copy.take(event, {});
    });
  EXPECT_EQ(other, 0u);
  EXPECT_EQ(copy.counts().conflicts, 0u);
  EXPECT_EQ(copy.counts().out_of_order, 0u);
  EXPECT_EQ(copy.counts().unreadable, 0u);
  EXPECT_EQ(net_.difference(copy), "");
  {
    const auto stores = apps::closed_stores::open(data_dir).value();
    const auto log = apps::check_delivery(stores, copy).value();
    EXPECT_EQ(log.lost, 0u);
    EXPECT_EQ(log.altered, 0u);
    EXPECT_EQ(log.invented, 0u);
  }
  const auto x = run_program(
    {"verify", data_dir, "--against", net_.urls().relay, "--strict"});
  EXPECT_EQ(x.status, 0) << x.output << x.errors;
}

} // namespace weir::tests
