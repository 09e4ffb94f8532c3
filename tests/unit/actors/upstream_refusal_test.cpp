#include "actors/upstream/limits.hpp"
#include "atproto/dag_cbor.hpp"
#include "tests/unit/actors/upstream_stream.hpp"

#include <gmock/gmock.h>

// Messages of a stream that are not events: protocol-coverage.md 1.6.

namespace weir::tests {
namespace {

using testing::IsEmpty;
using testing::Optional;
using testing::StartsWith;

/// A frame with a header and a body without fields.
shared_bytes bare_frame(int64_t op, std::string_view kind) {
  atproto::cbor::writer out;
  if (kind.empty())
    out.begin_map(1).put_text("op").put_int(op);
  else
    out.begin_map(2).put_text("t").put_text(kind).put_text("op").put_int(op);
  out.begin_map(0);
  return shared_bytes{out.take()};
}

void expect_malformed(const shared_bytes& frame) {
  stream x;
  const auto out = x.take({frame});
  EXPECT_THAT(out.disconnect, Optional(StartsWith("bad frame: ")));
  EXPECT_THAT(out.forward, IsEmpty());
  EXPECT_EQ(x.machine.row().cursor, 10u);
}

TEST(upstream_refusals, an_event_without_a_usable_seq_is_malformed) {
  expect_malformed(account_frame(0));
  expect_malformed(account_frame(-1));
}

TEST(upstream_refusals, an_info_and_an_error_that_say_nothing_are_malformed) {
  expect_malformed(bare_frame(1, "#info"));
  expect_malformed(bare_frame(-1, {}));
}

// protocol-coverage.md 1.3: up to `limits::upstream_jitter_part` of the wait is
// added
TEST(redial_pace, waits_are_spread) {
  redial_pace drawn;
  for (const auto least : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
    const auto spread
      = std::chrono::microseconds{least} / limits::upstream_jitter_part;
    const auto last = static_cast<uint64_t>(spread.count());
    auto first = drawn;
    EXPECT_EQ(first.wait(last + 1), least) << "the next number begins anew";
    auto middle = drawn;
    EXPECT_EQ(middle.wait(1), least + 1us);
    EXPECT_EQ(drawn.wait(last), least + spread);
  }
  drawn.gets_on();
  EXPECT_EQ(drawn.wait(0), 1s);
  stream x;
  const auto end
    = x.machine.on_closed({1, fail(ec::unreachable), 0, 0s}, 250'000, t0);
  EXPECT_EQ(*end.timer - t0, 1'250ms);
}

// protocol-coverage.md 1.14: `limits::too_slow_often` within
// `limits::too_slow_window`, and neither once less nor a moment later
TEST(upstream_machine, a_host_that_often_finds_us_too_slow_is_an_alert) {
  for (const auto pause : {limits::too_slow_window / 2 - 1us,
                           limits::too_slow_window / 2 + 0us}) {
    stream x;
    std::vector<size_t> alerts;
    for (size_t i = 0; i < limits::too_slow_often; ++i) {
      const auto now = t0 + static_cast<int64_t>(i) * pause;
      const auto out = x.take({error_frame("ConsumerTooSlow")}, now);
      EXPECT_TRUE(out.disconnect);
      EXPECT_EQ(out.alerts.at(0), "stream error: ConsumerTooSlow");
      alerts.push_back(out.alerts.size() - 1);
      x.reopen();
    }
    const auto often = pause * 2 < limits::too_slow_window ? 1u : 0u;
    EXPECT_THAT(alerts, testing::ElementsAre(0, 0, often));
    EXPECT_EQ(x.machine.counters().too_slow, limits::too_slow_often);
  }
}

} // namespace
} // namespace weir::tests
