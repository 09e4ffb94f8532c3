#include "actors/support/health_machine.hpp"

#include "tests/unit/actors/upstream_views.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

// What /readyz says while the node is not ready (docs/architecture.md, Health).
namespace weir::actors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const auto relay = "https://relay.test";
const auto pds = "https://pds.test";

upstream_view stream(uint32_t id, std::string origin, bool connected,
                     bool opened = true) {
  auto out = tests::quiet_upstream(id, std::move(origin), 1, 1);
  out.connected = connected;
  out.opened = opened;
  return out;
}

health_finding failing(health_cause cause, std::string where) {
  health_finding out;
  out.cause = cause;
  out.where = std::move(where);
  out.error = "it is broken";
  return out;
}

const std::vector<upstream_view> most_are_open{
  stream(tests::relay_id, relay, true), stream(tests::pds_id, pds, false),
  stream(tests::other_pds_id, "https://other.test", true)};

TEST(ReadinessTest, ANodeThatStartedAndLacksNothingIsReady) {
  EXPECT_THAT(reasons_to_wait(true, most_are_open, {}, {}), IsEmpty())
    << "a stream that was open may be away";
  EXPECT_THAT(reasons_to_wait(false, {}, {}, {}), ElementsAre("starting"));
}

TEST(ReadinessTest, AStreamThatWasNeverOpenIsStartingUntilACauseNamesIt) {
  auto streams = most_are_open;
  streams[1].opened = false;
  EXPECT_THAT(reasons_to_wait(true, streams, {}, {}),
              ElementsAre("upstream: https://pds.test is not connected"));
  auto cause = failing(health_cause::upstream, pds);
  cause.level = health_level::degraded;
  EXPECT_THAT(reasons_to_wait(true, streams, {}, {cause}), IsEmpty());
}

TEST(ReadinessTest, WithoutItsRelayANodeDoesNotWork) {
  auto streams = most_are_open;
  streams[0].connected = false;
  streams[1].connected = true;
  EXPECT_THAT(reasons_to_wait(true, streams, {}, {}),
              ElementsAre("upstream: https://relay.test is not connected"));
}

TEST(ReadinessTest, CausesThatFailAreReasonsAndOneForAStreamIsEnough) {
  auto streams = most_are_open;
  streams[0].connected = false;
  auto slow = failing(health_cause::fetch, "");
  slow.level = health_level::degraded;
  EXPECT_THAT(
    reasons_to_wait(true, streams, {"the disk is full"},
                    {failing(health_cause::upstream, relay), slow,
                     failing(health_cause::directory, "https://plc.test"),
                     failing(health_cause::upstream, "https://other.test")}),
    ElementsAre("upstream: https://relay.test is not connected",
                "upstream: https://pds.test is not connected",
                "the disk is full", "directory: it is broken",
                "upstream: https://other.test it is broken"));
}

} // namespace
} // namespace weir::actors
