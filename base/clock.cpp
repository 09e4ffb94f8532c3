#include "base/clock.hpp"

namespace weir {

namespace {

class real_clock final : public clock {
public:
  steady_time steady_now() const noexcept override {
    return {micros(std::chrono::steady_clock::now().time_since_epoch())};
  }

  wall_time wall_now() const noexcept override {
    return {micros(std::chrono::system_clock::now().time_since_epoch())};
  }

private:
  template <class Duration>
  static int64_t micros(Duration x) noexcept {
    return std::chrono::duration_cast<std::chrono::microseconds>(x).count();
  }
};

} // namespace

const clock& system_clock() noexcept {
  static const real_clock instance;
  return instance;
}

} // namespace weir
