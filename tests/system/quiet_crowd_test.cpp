#include "simnet/network.hpp"
#include "tests/system/hostile_node.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

// The host of very many quiet accounts loses events: one pass through its
// listing proves them all. ACCOUNTS=100000 is the large form
// (docs/completeness.md).

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

/// Time for a thousand accounts to be synced or proved on a busy machine.
constexpr auto patience_per_thousand = 30s * slowness;

class quiet_crowd {
public:
  explicit quiet_crowd(size_t accounts)
    : accounts_(accounts), life_(options(accounts)),
      urls_(life_.start(2).value()), node_({"pds:" + urls_.hosts.front()},
                                           urls_.plc,
                                           {"--sync-parallelism", "32"}) {
    // nop
  }

  hostile_node& node() noexcept { return node_; }
  simnet::network& life() noexcept { return life_; }

  /// @returns the seconds until all are reported complete
  double await_whole() {
    const auto begin = std::chrono::steady_clock::now();
    const auto patience
      = node_patience + patience_per_thousand * (accounts_ / 1'000);
    EXPECT_TRUE(eventually(patience, [this] {
      return count("complete") == accounts_;
    })) << count("complete") << " of " << count("active") << " are complete";
    return std::chrono::duration<double>{std::chrono::steady_clock::now() - begin}
      .count();
  }

  /// Loses the event of one account. The stream tells only that something was
  /// lost.
  void lose_window() {
    simnet::fault x;
    x.kind = simnet::fault_kind::lose_window;
    x.host = 0;
    x.count = 1;
    const auto done = life_.faults().inject(x);
    EXPECT_TRUE(done) << to_string(done.error());
  }

private:
  static simnet::network_options options(size_t accounts) {
    simnet::network_options out;
    out.population.seed = 121;
    out.population.accounts = accounts;
    out.population.records = accounts;
    out.population.size_exponent = 0.01;
    out.population.hosts = 1;
    out.population.p256_per_thousand = 1'000; // Faster to sign.
    out.relay = false;
    return out;
  }

  uint64_t count(std::string_view what) {
    const auto answer = web_->get(node_.data_url() + "/v1/completeness");
    if (!answer || answer->status != 200)
      return 0;
    return boost::json::parse(as_text(answer->body))
      .as_object()
      .at(what)
      .to_number<uint64_t>();
  }

  size_t accounts_;
  simnet::network life_;
  simnet::network_urls urls_;
  hostile_node node_;
  std::unique_ptr<apps::web_client> web_ = apps::web_client::make();
};

} // namespace

// CONS-13, CONS-15, CONS-29, CONS-30
TEST(QuietCrowdTest, OneListingProvesThemAllWithoutFetches) {
  quiet_crowd net{wished("ACCOUNTS", 2'000)};
  std::cout << "first copies: " << net.await_whole() << " s\n";
  const auto before = net.node().log_end();
  // Gives the stream a position from which to resume.
  net.life().traffic().post(0);
  ASSERT_TRUE(net.node().await_metric("weir_oplog_seq ", before + 1));
  net.node().restart([&] { net.lose_window(); });
  ASSERT_TRUE(net.node().await_metric("weir_upstream_resets_total", 1));
  std::cout << "proved again: " << net.await_whole() << " s\n";
  EXPECT_EQ(net.node().metric("weir_backfill_started_total"), 1u);
  EXPECT_GE(net.node().metric("weir_listing_finished_total"), 1u);
}

} // namespace weir::tests
