// Implements `truth` for `world` (simnet/truth.hpp).

#include "simnet/world.hpp"

namespace weir::simnet {

size_t world::accounts() const {
  const std::shared_lock lock{names_};
  return accounts_.size();
}

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

std::optional<size_t> world::find(std::string_view did) const {
  const std::shared_lock lock{names_};
  const auto at = by_did_.find(did);
  return at == by_did_.end() ? std::nullopt : std::optional{at->second};
}

std::optional<size_t> world::find_handle(std::string_view handle) const {
  const std::shared_lock lock{names_};
  const auto at = by_handle_.find(handle);
  return at == by_handle_.end() ? std::nullopt : std::optional{at->second};
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

bytes world::prove(size_t index, std::string_view path) const {
  const auto& x = get(index);
  const std::lock_guard lock{x.guard};
  return x.repo.prove(path);
}

void world::visit_records(size_t index, std::string_view after,
                          const repo_tree::visitor& visit) const {
  const auto& x = get(index);
  const std::lock_guard lock{x.guard};
  x.repo.tree().visit(after, visit);
}

} // namespace weir::simnet
