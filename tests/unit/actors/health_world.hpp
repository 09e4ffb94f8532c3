#pragma once

#include "actors/support/health_machine.hpp"
#include "actors/support/limits_health.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::tests {

using namespace std::chrono_literals;
using namespace weir::actors;

/// The work of a node, its results, and the times at which health is checked.
class health_world : public testing::Test {
protected:
  static constexpr auto enough = limits::health_failures_min;

  health_world() {
    machine.begin("https://plc.test");
    stream.id = 1;
    stream.origin = "https://relay.test";
    stream.connected = true;
  }

  void look_up(uint64_t first, size_t n, look_up_fault fault) {
    for (auto i = first; i < first + n; ++i)
      machine.on_look_up(i, fault, "HTTP 502", now);
  }

  void fetch(const std::string& host, uint64_t first, size_t n, bool fine) {
    for (auto i = first; i < first + n; ++i)
      machine.on_fetch(i, host, fine ? "" : "refused", now);
  }

  /// Lets time pass and checks health, as NODE does.
  void pass(std::chrono::microseconds x) {
    now = now + x;
    look();
  }

  void look() {
    auto all = others;
    all.push_back(stream);
    auto news = machine.look(all, clock, now, {1'000'000});
    begun = std::move(news.begun);
    ended = std::move(news.ended);
    probe = std::move(news.probe);
  }

  /// Adds streams besides the first one, which is a relay. Their ids start at
  /// 2.
  void add_streams(size_t n, bool connected = true) {
    for (size_t i = 0; i < n; ++i) {
      auto& x = others.emplace_back();
      x.id = static_cast<uint32_t>(others.size() + 1);
      x.origin = "https://pds" + std::to_string(x.id) + ".test";
      x.connected = connected;
    }
  }

  /// Waits until unconnected streams are reported.
  void miss() {
    look();
    pass(limits::health_upstream_grace);
  }

  health_level level() const { return machine.findings().at(0).level; }

  health_machine machine;
  upstream_view stream;
  std::vector<upstream_view> others;
  clock_state clock;
  steady_time now{1};
  std::vector<health_finding> begun;
  std::vector<health_finding> ended;
  std::optional<atproto::did> probe;
};

} // namespace weir::tests
