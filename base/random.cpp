#include "base/random.hpp"

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <sys/random.h>

namespace weir {

namespace {

class kernel_random final : public random_source {
public:
  uint64_t next() override {
    uint64_t x = 0;
    if (getrandom(&x, sizeof(x), 0) != static_cast<ssize_t>(sizeof(x)))
      std::abort(); // Without entropy no key would be safe.
    return x;
  }
};

/// xoshiro256** by Blackman and Vigna, seeded through splitmix64.
class xoshiro final : public random_source {
public:
  explicit xoshiro(uint64_t seed) {
    for (auto& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      auto z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }

  uint64_t next() override {
    const auto out = std::rotl(state_[1] * 5, 7) * 9;
    const auto t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return out;
  }

private:
  std::array<uint64_t, 4> state_{};
};

} // namespace

uint64_t random_source::below(uint64_t bound) {
  // Rejection keeps the distribution exact.
  const auto limit = UINT64_MAX - UINT64_MAX % bound;
  for (;;)
    if (const auto x = next(); x < limit)
      return x % bound;
}

double random_source::unit() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

void random_source::fill(std::span<uint8_t> out) {
  while (!out.empty()) {
    const auto x = next();
    const auto n = out.size() < sizeof(x) ? out.size() : sizeof(x);
    std::memcpy(out.data(), &x, n);
    out = out.subspan(n);
  }
}

random_source& system_random() noexcept {
  static kernel_random instance;
  return instance;
}

std::unique_ptr<random_source> seeded_random(uint64_t seed) {
  return std::make_unique<xoshiro>(seed);
}

} // namespace weir
