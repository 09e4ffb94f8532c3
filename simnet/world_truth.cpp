// Implements `truth` for `world` (simnet/truth.hpp).

#include "simnet/world.hpp"

namespace weir::simnet {

account_view world::view(size_t index) const {
  const auto& x = get(index);
  const std::lock_guard lock{x.guard};
  const auto& chain = x.repo.last();
  return {x.index,
          x.id(),
          x.handle,
          x.signing_key,
          x.host,
          x.status,
          chain.rev,
          x.listed_rev,
          chain.head,
          chain.data,
          x.repo.tree().size(),
          x.former,
          x.relay_takedown};
}

/// Every second host sends its blocks in random order, as a real PDS does.
shared_bytes world::export_car(size_t index) const {
  const auto& x = get(index);
  const std::lock_guard lock{x.guard};
  if (x.host % 2 == 0)
    return shared_bytes{x.repo.export_car(nullptr)};
  const auto random = seeded_random(options_.population.seed + index);
  return shared_bytes{x.repo.export_car(random.get())};
}

} // namespace weir::simnet
