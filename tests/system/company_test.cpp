#include "tests/support/temp_dir.hpp"
#include "tests/system/default_node.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <numeric>

namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using simnet::hostility;
using std::chrono::steady_clock;

constexpr size_t honest_accounts = 60;
constexpr size_t honest_hosts = 2;
constexpr size_t hostile_host = honest_hosts;

/// Number of tries, because other work on this machine may spoil some
/// measurements.
constexpr int attempts = 4;

/// Bytes that a store may keep of files that it has not merged yet.
constexpr size_t left_over_bytes = 24 * megabyte;

struct company {
  const char* name = "";
  simnet::hostile_host_options host;
  /// The harm that is done before the honest hosts are followed.
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

  /// The time until all honest repos are synced.
  std::chrono::milliseconds await_honest(default_node& node,
                                         steady_clock::time_point start) {
    size_t there = 0;
    while (there < honest.size() && steady_clock::now() - start < node_patience)
      there = node.synced(network.truth(), honest);
    EXPECT_EQ(there, honest.size()) << tail_of(node.process().errors());
    return std::chrono::duration_cast<std::chrono::milliseconds>(
      steady_clock::now() - start);
  }

  /// Syncs with a node that follows only honest hosts.
  std::chrono::milliseconds sync_alone(const std::string& data) {
    const auto start = steady_clock::now();
    default_node node{data, urls, {0, 1}, look_ups_as_before};
    const auto out = await_honest(node, start);
    resident_alone = node.process().resident_bytes();
    node.stop();
    bytes_alone = bytes_of_directory(data);
    return out;
  }

  /// The hostile host does its worst to a node.
  void suffer(const std::string& data) {
    const auto& x = network.hostile().of(hostile_host);
    const company before{"", {}, x.downloads, x.claims, x.frames};
    default_node node{data, urls, {hostile_host}, look_ups_as_before};
    EXPECT_TRUE(eventually(30s * slowness, [&] {
      return is_harmed(before);
    })) << "what is tested was not reached";
    node.stop();
  }

  /// Then the node follows the honest hosts, too.
  std::chrono::milliseconds sync_beside(const std::string& data) {
    const auto start = steady_clock::now();
    beside = std::make_unique<default_node>(
      data, urls, std::vector<size_t>{0, 1, hostile_host}, look_ups_as_before);
    return await_honest(*beside, start);
  }

  std::vector<std::string> hostile_dids() {
    std::vector<std::string> out;
    for (size_t i = honest_accounts; i < network.truth().accounts(); ++i)
      out.push_back(network.truth().view(i).id.str());
    return out;
  }

  /// Each honest account starts a collection that no other has.
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

  bool is_harmed(const company& before) {
    const auto& x = network.hostile().of(hostile_host);
    return x.downloads >= before.downloads + GetParam().downloads
           && x.claims >= before.claims + GetParam().claims
           && x.frames >= before.frames + GetParam().frames;
  }

  /// Events that the host had sent before may add its repos again.
  bool is_free(const std::string& data) {
    if (beside->metric("weir_repos_tracked") > honest_accounts)
      beside->remove(hostile_dids());
    return bytes_of_directory(data) <= bytes_alone + left_over_bytes
           && beside->metric("weir_repos_tracked") == honest_accounts
           && beside->process().resident_bytes()
                <= resident_alone + left_over_bytes + memory_slack;
  }

  temp_dir dir;
  simnet::network network;
  simnet::network_urls urls;
  std::vector<size_t> honest = std::vector<size_t>(honest_accounts);
  size_t bytes_alone = 0;
  size_t resident_alone = 0;
  std::unique_ptr<default_node> beside;
};

} // namespace

// After the host is removed, the node that followed it keeps nothing of it.
TEST_P(CompanyTest,
       HonestReposAreSyncedInTwiceTheirTimeAndAllIsFreeAfterwards) {
  auto is_in_time = false;
  std::string data;
  for (int i = 0; i < attempts && !is_in_time && !HasFailure(); ++i) {
    beside.reset();
    const auto number = std::to_string(i);
    const auto alone = sync_alone(dir.at("alone" + number));
    data = dir.at("data" + number);
    suffer(data);
    const auto longer = sync_beside(data);
    is_in_time = longer <= 2 * alone;
    std::cout << alone.count() << " ms alone, " << longer.count()
              << " ms beside it\n";
  }
  ASSERT_FALSE(HasFailure());
  EXPECT_TRUE(is_in_time);
  network.close_host(hostile_host);
  begin_new_collections();
  await_honest(*beside, steady_clock::now());
  EXPECT_TRUE(eventually(node_patience,
                         [&] {
                           return is_free(data);
                         }))
    << bytes_of_directory(data) << " bytes on disk, " << bytes_alone
    << " alone; " << beside->process().resident_bytes() << " in memory, "
    << resident_alone << " alone; " << beside->metric("weir_repos_tracked")
    << " repos";
  beside->stop();
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
