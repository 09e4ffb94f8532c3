#include "tests/system/distant_crowd.hpp"
#include "tests/system/latency_figures.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace weir::tests {

namespace {

/// Half of the rate of a PDS, or the host would wait for itself.
constexpr auto commit_pace = 4ms;
constexpr size_t commits_a_second = 1s / commit_pace;

/// Latency with bad hosts, measured on request (docs/latency.md).
///
/// One good host, a node that follows it with its store on the disk, and a
/// consumer; then the same with bad hosts, or the other way round. Everything
/// is new each time, nothing else runs, and the bad hosts do their worst all
/// the time. Commits are sent at their planned times, whatever happened to
/// earlier ones, and all of them are in the figures.
class LatencyTest : public NetFixture {
protected:
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
    if (distant) {
      ASSERT_EQ(distant->upstreams().size(), wished("HOSTS", 1));
      distant->run(false);
    }
  }

  /// The default options, except for what a test on loopback needs and memory
  /// for a hundred streams.
  static std::vector<std::string> options() {
    return {"--retry-backoff-min", "60s", "--sync-parallelism", "3"};
  }

  void measure(bool in_company, latency_figures& out) {
    followed_host good{network};
    if (distant)
      distant->run(in_company);
    const auto upstreams
      = in_company ? distant->upstreams() : std::vector<std::string>{};
    // Otherwise frames of accounts without a document come, which cost less.
    std::vector<atproto::did> bad;
    for (size_t i = 0; i < upstreams.size(); ++i) {
      const auto x = hostile_crowd::account(i);
      good.host().publish(x, distant->url(i));
      bad.push_back(x.did());
    }
    good.start(upstreams, options());
    good.node().add(good.accounts());
    good.expect_synced();
    good.node().add(bad);
    for (size_t i = 0; i < bad.size(); ++i)
      ASSERT_TRUE(good.node().await_metric(
        "weir_upstream_dials_total{upstream=\"" + distant->url(i) + "\"}", 1));
    good.commit_in_time(wished("FIRST", 5) * commits_a_second, commit_pace);
    const auto before = good.node().metric(frames);
    const auto all = wished("RUN_SECONDS", 20) * commits_a_second;
    auto took = good.commit_in_time(all, commit_pace);
    ASSERT_EQ(took.size(), all);
    out.add(std::move(took));
    const auto bad_frames = good.node().metric(frames) - before - all;
    EXPECT_TRUE(in_company || bad_frames == 0) << bad_frames;
    out.bad_frames += bad_frames;
  }

  static constexpr const char* frames = "weir_upstream_frames_total";
  static constexpr std::array<std::string_view, misdeeds> names{
    "slow", "endless", "resetting", "forging"};
  static inline std::unique_ptr<distant_crowd> distant;
};

class OpenLoopTest : public NetFixture {
protected:
  followed_host good{network};
};

} // namespace

// latency.md, The method: no coordinated omission. A closed loop would have
// sent only one commit during the pause.
TEST_F(OpenLoopTest, ANodeThatStandsStillIsLateWithAllCommitsOfThatTime) {
  using namespace testing;
  constexpr size_t stopped = 50;
  constexpr size_t goes_on = 150;
  good.start();
  good.node().add(good.accounts());
  good.expect_synced();
  const auto took
    = good.commit_in_time(200, commit_pace, [this](size_t number) {
        if (number == stopped || number == goes_on)
          good.node().run(number == goes_on);
      });
  ASSERT_THAT(took, SizeIs(200));
  EXPECT_THAT(took, Each(Gt(0.0)));
  // The node may have had the first few when the signal came.
  for (auto i = stopped + 5; i < goes_on; ++i)
    EXPECT_GE(took[i], static_cast<double>((goes_on - i) * 4)) << i;
}

TEST_F(LatencyTest, BesideBadHostsIsMeasured) {
  latency_figures alone{"alone"};
  latency_figures company{distant
                            ? "beside " + std::to_string(wished("HOSTS", 1))
                                + ' ' + wished_deed()
                            : "alone again"};
  const machine_load before;
  for (size_t i = 0; i < wished("RUNS", 5); ++i) {
    // The order alternates, so that neither is always the later one.
    const auto first = i % 2 == 1;
    measure(first && distant, first ? company : alone);
    measure(!first && distant, first ? alone : company);
    if (HasFatalFailure())
      return;
  }
  // A frame of a slow host may take longer than a run.
  EXPECT_TRUE(company.bad_frames > 0 || !distant || wished_deed() == "slow");
  std::cout << alone.text() << company.text() << "difference of p99, of "
            << "medians: " << difference(alone, company) << " %; "
            << before.text() << '\n';
  if (const auto most = wished("WITHIN", 0); most > 0) {
    EXPECT_LT(difference(alone, company), static_cast<double>(most)) << "P11";
  }
}

} // namespace weir::tests
