#include "tests/system/distant_crowd.hpp"
#include "tests/system/followed_host.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string_view>

namespace weir::tests {

namespace {

/// Commits of one good host as its node handed them on.
struct latencies {
  std::vector<double> calm; ///< How many milliseconds they took.
  double calm_seconds = 0;  ///< In which that was.
  double seconds = 0;       ///< All.
  uint64_t bad_frames = 0;  ///< In all of them.
};

double part(std::vector<double> x, double share) {
  const auto at = static_cast<double>(x.size() - 1) * share;
  const auto place = x.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(x.begin(), place, x.end());
  return *place;
}

/// What others on the machine's host took of its processors so far, in
/// hundredths of a second of one.
uint64_t stolen() {
  std::ifstream in{"/proc/stat"};
  std::string name;
  uint64_t out = 0;
  in >> name;
  for (int column = 0; column < 8; ++column)
    in >> out;
  return out;
}

/// reliability.md P11, measured on request (docs/testing.md).
///
/// Two good hosts, each with a node of its own, of which one follows bad hosts
/// as well. They work in turns: the other node stands still meanwhile, and so
/// do the bad hosts when it is not theirs. So what the machine does meanwhile
/// is in both, and of what bad hosts do all is in one. Seconds in which the
/// machine's host gave its processors to others do not count: on a busy one
/// they decide alone what a p99 is.
class LatencyTest : public NetFixture {
protected:
  /// Half of what a PDS may send, or the host would wait for itself.
  static constexpr auto pace = 4ms;
  static constexpr size_t second = 1s / pace;
  static constexpr size_t turn = 8; ///< Seconds.
  /// What came while it stood still is made up for.
  static constexpr size_t lead_in = 3;
  static constexpr uint64_t stolen_max = 1;

  static constexpr const char* frames = "weir_upstream_frames_total";

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

  static bool sends_ahead() {
    return wished_deed() == "endless" || wished_deed() == "forging";
  }

  void SetUp() override {
    const auto deed = wished_deed();
    if (deed.empty())
      GTEST_SKIP() << "MISDEED is not set";
    ASSERT_TRUE(distant || deed == "none") << "MISDEED is none that we know";
    if (distant)
      publish();
    alone.start();
    beside.start(distant ? distant->upstreams() : std::vector<std::string>{});
    for (auto* x : {&alone, &beside}) {
      x->node().add(x->accounts());
      x->expect_synced();
    }
    if (distant)
      meet();
  }

  /// Or frames of accounts that nobody can look up come first, which cost less.
  void publish() {
    ASSERT_EQ(distant->upstreams().size(), wished("HOSTS", 1));
    for (size_t i = 0; i < distant->upstreams().size(); ++i) {
      const auto x = hostile_crowd::account(i);
      beside.host().publish(x, distant->url(i));
      bad_accounts.push_back(x.did());
    }
  }

  /// Has the node follow an account of each bad host.
  void meet() {
    beside.node().add(bad_accounts);
    for (size_t i = 0; i < bad_accounts.size(); ++i)
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
    EXPECT_EQ(x.commit(lead_in * second, pace).size(), lead_in * second);
  }

  void measure(followed_host& x, latencies& out) {
    turn_to(x);
    // What they have sent waits in buffers, for longer than this turn: so they
    // take nothing of the processors, like hosts on machines of their own.
    if (distant && sends_ahead())
      distant->run(false);
    const auto before = x.node().metric(frames);
    for (size_t i = 0; i < turn; ++i)
      measure_second(x, out);
    out.bad_frames += x.node().metric(frames) - before - turn * second;
  }

  void measure_second(followed_host& x, latencies& out) {
    const auto before = stolen();
    const auto began = std::chrono::steady_clock::now();
    const auto some = x.commit(second, pace);
    ASSERT_EQ(some.size(), second);
    const std::chrono::duration<double> took
      = std::chrono::steady_clock::now() - began;
    out.seconds += took.count();
    if (stolen() - before > stolen_max)
      return;
    out.calm_seconds += took.count();
    out.calm.insert(out.calm.end(), some.begin(), some.end());
  }

  static void print(const std::string& which, const latencies& x) {
    std::cout << which << ": " << x.calm.size() << " commits in "
              << x.calm_seconds << " of " << x.seconds << " s, ms: p50 "
              << part(x.calm, 0.5) << " p90 " << part(x.calm, 0.9) << " p99 "
              << part(x.calm, 0.99) << " max " << part(x.calm, 1) << "; "
              << static_cast<double>(x.bad_frames) / x.seconds
              << " bad frames/s\n";
  }

  static constexpr std::array<std::string_view, misdeeds> names{
    "slow", "endless", "resetting", "forging"};
  static inline std::unique_ptr<distant_crowd> distant;

  followed_host alone{network};
  followed_host beside{network};
  std::vector<atproto::did> bad_accounts;
};

} // namespace

TEST_F(LatencyTest, BesideBadHostsIsMeasured) {
  // Until every buffer on the way of endless ones is full.
  turn_to(beside);
  beside.commit(wished("FIRST", 20) * second, pace);
  latencies quiet;
  latencies company;
  // As many calm ones as wished, if it is not in vain.
  const auto wanted = wished("CALM", 40) * second;
  const auto turns = 4 * (wished("CALM", 40) / turn + 1);
  for (size_t i = 0;
       i < turns && std::min(quiet.calm.size(), company.calm.size()) < wanted;
       ++i) {
    // Forth and back, so that neither is always the later one.
    const auto back = i % 2 == 1;
    measure(back ? beside : alone, back ? company : quiet);
    measure(back ? alone : beside, back ? quiet : company);
  }
  ASSERT_FALSE(quiet.calm.empty() || company.calm.empty())
    << "the machine had no calm second";
  EXPECT_EQ(quiet.bad_frames, 0u);
  EXPECT_EQ(company.bad_frames > 0, distant != nullptr) << "nothing bad came";
  print("alone", quiet);
  print("beside " + wished_deed(), company);
}

} // namespace weir::tests
