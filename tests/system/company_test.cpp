#include "tests/support/temp_dir.hpp"
#include "tests/system/default_node.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <numeric>

namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using simnet::hostility;
using std::chrono::steady_clock;

constexpr size_t honest_accounts = 60;
constexpr size_t honest_hosts = 2;
constexpr size_t hostile_host = honest_hosts;

/// What runs at the same time on this machine makes no failure.
constexpr std::chrono::seconds noise{15 * slowness};

/// What a store keeps of files that it wrote before, and has not merged.
constexpr size_t left_over_bytes = 24 * megabyte;

struct company {
  const char* name = "";
  simnet::hostile_host_options host;
  /// Harm that is done before the honest hosts are there.
  uint64_t downloads = 0;
  uint64_t claims = 0;
  uint64_t frames = 0;
};

std::ostream& operator<<(std::ostream& out, const company& x) {
  return out << x.name;
}

simnet::network_options options(std::vector<simnet::hostile_host_options> bad) {
  simnet::network_options out;
  out.population.accounts = honest_accounts;
  out.population.records = honest_accounts * 20;
  out.population.hosts = honest_hosts;
  out.hostile = std::move(bad);
  out.relay = false;
  return out;
}

class CompanyTest : public testing::TestWithParam<company> {
protected:
  CompanyTest() : network(options({GetParam().host})) {
    std::iota(honest.begin(), honest.end(), 0);
    urls = network.start(2).value();
  }

  /// How long it takes until all honest repos are there.
  std::chrono::milliseconds
  await_honest(default_node& node, steady_clock::time_point start,
               std::chrono::milliseconds longest) {
    size_t there = 0;
    while (there < honest.size() && steady_clock::now() - start < longest)
      there = node.synced(network.truth(), honest);
    EXPECT_EQ(there, honest.size()) << tail_of(node.process().errors());
    return std::chrono::duration_cast<std::chrono::milliseconds>(
      steady_clock::now() - start);
  }

  std::vector<std::string> hostile_dids() {
    std::vector<std::string> out;
    for (size_t i = honest_accounts; i < network.truth().accounts(); ++i)
      out.push_back(network.truth().view(i).id.str());
    return out;
  }

  /// Each honest account begins a collection that nobody had.
  void begin_new_collections() {
    for (const auto index : honest) {
      auto& world = network.truth();
      const auto x = world.at(index);
      auto change = world.new_change(*x);
      change.path = "com.example.fresh" + std::to_string(index) + "/self";
      std::vector<simnet::change> changes;
      changes.push_back(std::move(change));
      world.commit(*x, std::move(changes));
    }
  }

  bool is_harmed() {
    const auto& x = network.hostile().of(hostile_host);
    return x.downloads >= GetParam().downloads && x.claims >= GetParam().claims
           && x.frames >= GetParam().frames;
  }

  temp_dir dir;
  simnet::network network;
  simnet::network_urls urls;
  std::vector<size_t> honest = std::vector<size_t>(honest_accounts);
};

} // namespace

// The hostile host comes first and does what it can; then come the honest ones.
// After it is gone nothing of it is left.
TEST_P(CompanyTest, HonestReposAreSyncedInTwiceTheirTimeAndAllIsFreeAfterwards) {
  size_t bytes_alone = 0;
  size_t resident_alone = 0;
  auto start = steady_clock::now();
  auto alone = 0ms;
  {
    default_node node{dir.at("alone"), urls, {0, 1}};
    alone = await_honest(node, start, node_patience);
    resident_alone = node.process().resident_bytes();
    node.stop();
    bytes_alone = bytes_of_directory(dir.at("alone"));
  }
  const auto data = dir.at("data");
  {
    default_node node{data, urls, {hostile_host}};
    eventually(30s * slowness, [&] {
      return is_harmed();
    });
    EXPECT_TRUE(is_harmed()) << "what is tested was not reached";
    node.stop();
  }
  const auto bound = std::max(2 * alone, alone + noise);
  {
    start = steady_clock::now();
    default_node node{data, urls, {0, 1, hostile_host}};
    const auto beside = await_honest(node, start, bound);
    std::cout << alone.count() << " ms alone, " << beside.count()
              << " ms beside it\n";
    node.remove(hostile_dids());
    node.stop();
  }
  if (HasFailure())
    return;
  default_node node{data, urls, {0, 1}};
  // It may have come back before the host was gone.
  node.remove(hostile_dids());
  begin_new_collections();
  await_honest(node, steady_clock::now(), node_patience);
  const auto is_free = eventually(node_patience, [&] {
    return bytes_of_directory(data) <= bytes_alone + left_over_bytes;
  });
  EXPECT_TRUE(is_free) << bytes_of_directory(data) << " bytes are left";
  EXPECT_EQ(node.metric("weir_repos_tracked"), honest_accounts);
  EXPECT_LE(node.process().resident_bytes(),
            resident_alone + left_over_bytes + memory_slack);
}

INSTANTIATE_TEST_SUITE_P(
  Hosts, CompanyTest,
  testing::Values(company{"Slow", {hostility::slow, 200}, 1},
                  company{"Inventive", {hostility::inventive, 1}, 0, 10'000},
                  company{"Wide", {hostility::wide, 260}, 100},
                  company{"Endless", {hostility::endless, 20}, 1, 0, 500}),
  [](const auto& x) {
    return std::string{x.param.name};
  });

} // namespace weir::tests
