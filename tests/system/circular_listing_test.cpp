#include "tests/support/temp_dir.hpp"
#include "tests/system/default_node.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <numeric>

// A host that lists its own real accounts without end, in an order that
// changes, so that no two pages are equal and no line is a claim.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr size_t others = 10;
constexpr size_t circular_accounts = 20;
constexpr size_t circle_host = 1;
constexpr size_t pages_an_hour = 3'600; ///< One a second.
/// Two pages of 10,000 lines; the second is one too many.
constexpr size_t pages_of_a_run = 2;

simnet::network_options circular_network() {
  simnet::network_options out;
  out.population.accounts = others;
  out.population.records = others * 20;
  out.population.hosts = circle_host;
  out.hostile = {{simnet::hostility::circular, circular_accounts}};
  out.relay = false;
  return out;
}

} // namespace

// limits::listing_again_max, listing_requests_range; hostile-inputs.md 2.1.29
TEST(CircularListingTest, AHostThatListsTheSameForEverIsAskedWithinItsBudget) {
  simnet::network network{circular_network()};
  const auto urls = network.start(2).value();
  std::vector<size_t> everybody(others + circular_accounts);
  std::iota(everybody.begin(), everybody.end(), 0);
  const auto& host = network.hostile().of(circle_host);
  const temp_dir dir;
  const auto start = steady_clock::now();
  default_node node{
    dir.at("data"),
    urls,
    {0, circle_host},
    {"--listing-requests-per-hour", std::to_string(pages_an_hour)}};
  EXPECT_TRUE(eventually(node_patience, [&] {
    return node.synced(network.truth(), everybody) == everybody.size();
  })) << "its accounts are as good as others";
  // Waits for the other host's listings, too; each is repeated after two or
  // three seconds.
  EXPECT_TRUE(eventually(node_patience, [&] {
    return host.pages >= 3 * pages_of_a_run
           && node.metric("weir_listing_finished_total") >= 6;
  })) << host.pages << " pages";
  const auto time
    = std::chrono::ceil<std::chrono::seconds>(steady_clock::now() - start);
  std::cout << host.pages << " pages in " << time.count() << " s\n";
  EXPECT_LE(host.pages, time.count() * pages_an_hour / 3'600 + pages_of_a_run);
  node.stop();
}

} // namespace weir::tests
