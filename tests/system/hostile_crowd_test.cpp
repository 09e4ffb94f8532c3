#include "tests/system/followed_host.hpp"
#include "tests/system/hostile_crowd.hpp"

namespace weir::tests {

namespace {

class HostileCrowdTest : public NetFixture {
protected:
  followed_host good{network};
};

} // namespace

// testing.md, Bad company: 100 bad hosts, 25 of each kind.
TEST_F(HostileCrowdTest, AHundredBadHostsDoNotKeepAGoodOneFromItsConsumer) {
  constexpr int64_t forgeries = 100;
  const hostile_crowd crowd{100,
                            [](size_t i) {
                              return static_cast<misdeed>(i % misdeeds);
                            },
                            forgeries, good.host()};
  auto options = followed_host::small_fetches();
  options.insert(options.end(),
                 {"--sync-parallelism", "64", "--sync-per-host", "2"});
  good.start(crowd.upstreams(), options);
  auto all = crowd.accounts();
  for (const auto& x : good.accounts())
    all.push_back(x);
  good.node().add(all);
  good.expect_synced();
  EXPECT_TRUE(good.commit(followed_host::repos));
  good.expect_synced();
  EXPECT_EQ(crowd.met(), 100u);
  EXPECT_GT(crowd.forged(), 0u);
  EXPECT_TRUE(good.node().is_healthy());
  EXPECT_LT(good.node().peak_bytes(), 256 * megabyte + memory_slack);
}

} // namespace weir::tests
