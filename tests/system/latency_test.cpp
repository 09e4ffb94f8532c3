#include "tests/system/distant_crowd.hpp"
#include "tests/system/followed_host.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace weir::tests {

namespace {

/// Commits of one good host as its node handed them on: how long they took.
struct latencies {
  std::vector<double> all;
  std::vector<double> p99s; ///< Of each turn.
};

double part(std::vector<double> x, double share) {
  const auto at = static_cast<double>(x.size() - 1) * share;
  const auto place = x.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(x.begin(), place, x.end());
  return *place;
}

/// reliability.md P11, measured on request (docs/testing.md).
///
/// Two good hosts, each with a node of its own, of which one follows bad hosts
/// as well. They work in turns: the other node stands still meanwhile, and so
/// do the bad hosts when it is not theirs. So what the machine does meanwhile
/// is in both, and of what bad hosts do all is in one.
class LatencyTest : public NetFixture {
protected:
  /// Half of what a PDS may send, or the host would wait for itself.
  static constexpr auto pace = 4ms;
  static constexpr size_t turn = 1'000;
  /// More than the second in which what came meanwhile is made up for.
  static constexpr size_t lead_in = 750;

  static void SetUpTestSuite() {
    const auto deed = std::find(names.begin(), names.end(), wished_deed());
    if (deed != names.end())
      distant = std::make_unique<distant_crowd>(
        wished("HOSTS", 1), static_cast<misdeed>(deed - names.begin()));
  }

  static void TearDownTestSuite() { distant = nullptr; }

  static std::string wished_deed() {
    const auto* out = std::getenv("MISDEED");
    return out == nullptr ? std::string{} : out;
  }

  void SetUp() override {
    const auto deed = wished_deed();
    if (deed.empty())
      GTEST_SKIP() << "MISDEED is not set";
    ASSERT_TRUE(distant || deed == "none") << "MISDEED is none that we know";
    alone.start();
    beside.start(distant ? distant->upstreams() : std::vector<std::string>{});
    for (auto* x : {&alone, &beside}) {
      x->node().add(x->accounts());
      x->expect_synced();
    }
    if (distant) {
      ASSERT_EQ(distant->upstreams().size(), wished("HOSTS", 1));
      meet();
    }
  }

  /// Has the node follow an account of each bad host.
  void meet() {
    std::vector<atproto::did> accounts;
    for (size_t i = 0; i < distant->upstreams().size(); ++i) {
      const auto x = hostile_crowd::account(i);
      beside.host().publish(x, distant->url(i));
      accounts.push_back(x.did());
    }
    beside.node().add(accounts);
    for (size_t i = 0; i < accounts.size(); ++i)
      ASSERT_TRUE(beside.node().await_metric(
        "weir_upstream_dials_total{upstream=\"" + distant->url(i) + "\"}", 1));
  }

  /// Nothing runs but this node and what it follows.
  void turn_to(followed_host& x) {
    auto& other = &x == &alone ? beside : alone;
    other.node().run(false);
    if (distant)
      distant->run(&x == &beside);
    x.node().run(true);
    EXPECT_EQ(x.commit(lead_in, pace).size(), lead_in);
  }

  void measure(followed_host& x, latencies& out) {
    turn_to(x);
    const auto some = x.commit(turn, pace);
    ASSERT_EQ(some.size(), turn);
    out.all.insert(out.all.end(), some.begin(), some.end());
    out.p99s.push_back(part(some, 0.99));
  }

  static void print(const std::string& which, const latencies& x) {
    std::cout << which << ": " << x.all.size() << " commits, ms: p50 "
              << part(x.all, 0.5) << " p90 " << part(x.all, 0.9) << " p99 "
              << part(x.all, 0.99) << " max " << part(x.all, 1)
              << "; of the p99 of each turn: p25 " << part(x.p99s, 0.25)
              << " p50 " << part(x.p99s, 0.5) << " p75 " << part(x.p99s, 0.75)
              << '\n';
  }

  static constexpr std::array<std::string_view, misdeeds> names{
    "slow", "endless", "resetting", "forging"};
  static inline std::unique_ptr<distant_crowd> distant;

  followed_host alone{network};
  followed_host beside{network};
};

} // namespace

TEST_F(LatencyTest, BesideBadHostsIsMeasured) {
  // Until every buffer on the way of endless ones is full.
  turn_to(beside);
  beside.commit(wished("FIRST", 5) * turn, pace);
  latencies quiet;
  latencies company;
  for (size_t i = 0; i < wished("TURNS", 5); ++i) {
    // Forth and back, so that neither is always the later one.
    const auto back = i % 2 == 1;
    measure(back ? beside : alone, back ? company : quiet);
    measure(back ? alone : beside, back ? quiet : company);
  }
  print("alone", quiet);
  print("beside " + wished_deed(), company);
}

} // namespace weir::tests
