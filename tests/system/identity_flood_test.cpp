#include "tests/support/temp_dir.hpp"
#include "tests/system/default_node.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <numeric>

// A host whose stream endlessly reports changes of its accounts, with other
// hosts and few look-ups (hostile-inputs.md 2.1.33).

namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr size_t honest_accounts = 10;
constexpr size_t honest_hosts = 2;
constexpr size_t fickle_accounts = 2'000;
constexpr size_t fickle_host = honest_hosts;
constexpr size_t rotated = 7; ///< The account whose key is rotated.

/// Look-ups a second: those of the fickle host alone take 200 s.
const std::vector<std::string> few_look_ups{"--plc-per-second", "10"};

/// Other work on this machine must not cause a failure.
constexpr std::chrono::seconds busy_machine{15 * slowness};

simnet::network_options fickle_network() {
  simnet::network_options out;
  out.population.accounts = honest_accounts;
  out.population.records = honest_accounts * 20;
  out.population.hosts = honest_hosts;
  out.hostile = {{simnet::hostility::fickle, fickle_accounts}};
  out.relay = false;
  return out;
}

class IdentityFloodTest : public testing::Test {
protected:
  IdentityFloodTest() : network(fickle_network()) {
    std::iota(honest.begin(), honest.end(), 0);
    urls = network.start(2).value();
  }

  /// The time until these repos are equal to those at their hosts.
  std::chrono::milliseconds await(default_node& node,
                                  const std::vector<size_t>& which,
                                  std::chrono::milliseconds longest) {
    const auto start = steady_clock::now();
    size_t there = 0;
    while (there < which.size() && steady_clock::now() - start < longest)
      there = node.synced(network.truth(), which);
    EXPECT_EQ(there, which.size()) << tail_of(node.process().errors());
    return std::chrono::duration_cast<std::chrono::milliseconds>(
      steady_clock::now() - start);
  }

  void rotate_key_and_post() {
    simnet::fault x;
    x.kind = simnet::fault_kind::rotate_key;
    x.did = network.truth().view(rotated).id.str();
    ASSERT_TRUE(network.faults().inject(x));
    network.traffic().post(rotated);
  }

  uint64_t flood() { return network.hostile().of(fickle_host).frames; }

  temp_dir dir;
  simnet::network network;
  simnet::network_urls urls;
  std::vector<size_t> honest = std::vector<size_t>(honest_accounts);
};

} // namespace

// limits::plc_per_second_range: neither other hosts' new accounts nor changed
// keys wait for the look-ups of the flood
TEST_F(IdentityFloodTest, OthersAreSyncedInTimeAndTheirKeysFollowed) {
  auto alone = 0ms;
  {
    default_node node{dir.at("alone"), urls, {0, 1}, few_look_ups};
    alone = await(node, honest, node_patience);
    node.stop();
  }
  const auto data = dir.at("data");
  {
    default_node node{data, urls, {fickle_host}, few_look_ups};
    EXPECT_TRUE(eventually(node_patience, [&] {
      return flood() >= 2 * fickle_accounts;
    })) << "what is tested was not reached";
    node.stop();
  }
  default_node node{data, urls, {fickle_host, 0, 1}, few_look_ups};
  const auto bound = std::max(2 * alone, alone + busy_machine);
  const auto beside = await(node, honest, bound);
  const auto before = flood();
  rotate_key_and_post();
  const auto key = await(node, {rotated}, bound);
  std::cout << alone.count() << " ms alone, " << beside.count()
            << " ms beside it, a new key " << key.count() << " ms\n";
  EXPECT_TRUE(eventually(node_patience, [&] {
    return flood() > before;
  })) << "it goes on";
  node.stop();
}

} // namespace weir::tests
