#pragma once

#include "atproto/identifiers.hpp"
#include "atproto/signature.hpp"
#include "base/random.hpp"
#include "simnet/options.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace weir::simnet {

/// Draws ranks 0..n-1 with weights (rank + 1)^-exponent (Zipf's law).
///
/// # Threads
/// Immutable after construction.
class zipf {
public:
  /// @pre `n > 0`
  zipf(size_t n, double exponent);

  size_t pick(random_source& random) const {
    const auto at
      = std::ranges::upper_bound(sums_, random.unit() * sums_.back());
    return std::min(static_cast<size_t>(at - sums_.begin()), sums_.size() - 1);
  }

  /// The probability of a rank; all of them add up to 1.
  double share(size_t rank) const {
    const auto before = rank == 0 ? 0.0 : sums_[rank - 1];
    return (sums_[rank] - before) / sums_.back();
  }

private:
  std::vector<double> sums_; ///< Sums of the weights up to each rank.
};

/// Shuffles with the method of Fisher and Yates.
template <class T>
void shuffle(std::vector<T>& xs, random_source& random) {
  for (auto n = xs.size(); n > 1; --n)
    std::swap(xs[n - 1], xs[random.below(n)]);
}

/// An account as the seed defines it.
struct newcomer {
  atproto::did id; ///< A did:plc.
  std::string handle;
  atproto::private_key key;
  size_t host = 0;
  uint64_t records = 0;
  uint64_t seed = 0; ///< Seed of the account's own random source.
};

/// Makes `<syllables><index>.test`, short enough for a real PDS.
std::string make_handle(random_source& random, size_t index);

/// Makes account number `index`. Its DID, handle and seed depend only on the
/// network's seed and on `index`. It has no records yet.
newcomer make_newcomer(const population_options& options, size_t index);

/// Makes all accounts and distributes the records.
std::vector<newcomer> make_population(const population_options& options);

} // namespace weir::simnet
