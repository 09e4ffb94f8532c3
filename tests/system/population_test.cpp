#include "tests/support/temp_dir.hpp"
#include "tests/system/default_node.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <thread>

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

simnet::network_options population(size_t accounts, size_t deactivated) {
  simnet::network_options out;
  out.population.accounts = accounts;
  out.population.records = accounts * 2;
  out.population.deactivated = deactivated;
  out.relay = false;
  return out;
}

} // namespace

// Most accounts of old hosts are deactivated. The active ones are all synced
// within the memory limit, and then the node is idle.
TEST(PopulationTest, AMajorityOfInactiveAccountsKeepsNobodyFromBeingSynced) {
  constexpr size_t accounts = 15'000;
  constexpr size_t deactivated = 12'500;
  constexpr size_t memory = 128 * megabyte;
  const auto quiet_seconds = wished("QUIET_SECONDS", 8);
  const temp_dir dir;
  simnet::network network{population(accounts, deactivated)};
  const auto urls = network.start(2).value();
  // The directory is on this machine; at the default rate it takes half a
  // minute.
  std::vector<std::string> more{"--memory-limit", "128MiB"};
  if (wished("PLC_DEFAULT", 0) == 0)
    more.insert(more.end(), {"--plc-per-second", "5000"});
  default_node node{dir.at("data"), urls, {0, 1, 2}, more};
  const std::chrono::seconds longest{wished("SYNC_SECONDS", 300) * slowness};
  eventually(longest, [&] {
    return node.metric("weir_repos_synced") == accounts - deactivated;
  });
  ASSERT_EQ(node.metric("weir_repos_synced"), accounts - deactivated)
    << tail_of(node.process().errors());
  // The CPU time is what is tested. Work of the start ends first.
  std::this_thread::sleep_for(2s);
  const auto before = node.process().cpu_time();
  std::this_thread::sleep_for(std::chrono::seconds{quiet_seconds});
  const auto used = node.process().cpu_time() - before;
  const auto peak = node.process().peak_bytes();
  std::cout << "used " << used / 1ms << " ms in " << quiet_seconds
            << " s, peak " << peak / megabyte << " MiB\n";
  // 7.5 ms a second on a quiet machine; a busy loop takes a core.
  EXPECT_LT(used, quiet_seconds * 75ms * slowness);
  EXPECT_LT(peak, memory + memory_slack);
  EXPECT_EQ(node.metric("weir_repos_synced"), accounts - deactivated);
}

} // namespace weir::tests
