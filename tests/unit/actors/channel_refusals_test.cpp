#include "actors/api/channel_places.hpp"
#include "actors/api/limits.hpp"

#include "base/metrics.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weir::actors {
namespace {

size_t times(const std::string& text, const std::string& in) {
  size_t out = 0;
  for (auto i = in.find(text); i != std::string::npos; i = in.find(text, i + 1))
    ++out;
  return out;
}

// limits::channel_lines_max, limits::channel_lines_interval
TEST(ChannelRefusalsTest, AllAreCountedAndSomeAreNamed) {
  metrics_registry all;
  auto& counted = all.counter("weir_channels_refused_total", "Test");
  channel_refusals x{counted};
  const auto peer = net::ip_address::loopback_v4();
  constexpr steady_time begin{5'000'000};
  constexpr auto more = limits::channel_lines_max + 5;
  log::configure(log::level::info, log::format::text);
  testing::internal::CaptureStderr();
  for (const auto from : {begin, begin + limits::channel_lines_interval}) {
    for (uint64_t i = 0; i < more; ++i)
      x.tell(peer, "enough", from);
    x.tell(peer, "enough",
           from + (limits::channel_lines_interval - std::chrono::microseconds{1}));
  }
  const auto lines = testing::internal::GetCapturedStderr();
  log::configure(log::level::off, log::format::text);
  EXPECT_EQ(times("channel_refused peer=127.0.0.1", lines),
            2 * limits::channel_lines_max)
    << lines;
  EXPECT_EQ(times("channels_refused_unnamed", lines), 2u) << lines;
  EXPECT_EQ(counted.value(), 2 * (more + 1));
}

} // namespace
} // namespace weir::actors
