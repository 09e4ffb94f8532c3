#pragma once

#include "base/bytes.hpp"

#include <cstdint>
#include <memory>

namespace weir {

/// The randomness seam: all random numbers of the product come from here.
///
/// # Threads
/// `system_random` is safe from any thread; a seeded source belongs to one.
class random_source {
public:
  virtual ~random_source() = default;

  /// Uniform over all 64-bit values.
  virtual uint64_t next() = 0;

  /// Uniform over [0, bound). @pre `bound > 0`
  uint64_t below(uint64_t bound);

  /// Uniform over [0, 1).
  double unit();

  /// Fills `out` with random bytes.
  void fill(std::span<uint8_t> out);
};

/// The kernel's generator, fit for keys and identifiers. Static lifetime.
random_source& system_random() noexcept;

/// A reproducible source (xoshiro256**): same seed, same sequence on every
/// machine. Never for keys that protect anything.
std::unique_ptr<random_source> seeded_random(uint64_t seed);

} // namespace weir
