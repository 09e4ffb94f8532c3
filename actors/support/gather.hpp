#pragma once

#include <caf/error.hpp>

#include <cstddef>
#include <functional>
#include <utility>

namespace weir::actors {

/// Runs `done` once, when all answers to requests of one actor have arrived.
///
///   auto all = std::make_shared<gather>([=](const caf::error& x) { ... });
///   for (const auto& to : several) {
///     all->expect();
///     request(to, ...).then([all](const reply&) { all->answered(); },
///                           [all](caf::error& why) { all->failed(why); });
///   }
///   all->answered(); // Nobody else is asked.
///
/// # Threads
/// Those of the actor that asks.
class gather {
public:
  /// @param done Gets the last failure, if there was one. Must not keep the
  /// gather itself alive.
  explicit gather(std::function<void(const caf::error& failed)> done)
    : done_(std::move(done)) {}

  void expect() noexcept { ++left_; }

  void answered() {
    if (--left_ == 0)
      std::exchange(done_, nullptr)(failure_);
  }

  void failed(caf::error why) {
    failure_ = std::move(why);
    answered();
  }

private:
  size_t left_ = 1; ///< Missing answers, and one for the asker.
  caf::error failure_;
  std::function<void(const caf::error&)> done_;
};

} // namespace weir::actors
