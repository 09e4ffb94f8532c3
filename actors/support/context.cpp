#include "actors/support/context.hpp"

namespace weir::actors {

context::context() {
  divide({});
}

void context::divide(const placement& x) {
  places_ = x;
  partitions_.clear();
  for (uint16_t i = 0; i < x.partitions(); ++i)
    partitions_.push_back(std::make_shared<partition_context>(i));
}

void context::set_upstream(uint32_t id, upstream_actor x) {
  const std::lock_guard guard{mutex_};
  upstream_handles_[id] = std::move(x);
}

upstream_actor context::upstream(uint32_t id) const {
  const std::lock_guard guard{mutex_};
  const auto i = upstream_handles_.find(id);
  return i == upstream_handles_.end() ? upstream_actor{} : i->second;
}

std::vector<upstream_actor> context::all_upstreams() const {
  const std::lock_guard guard{mutex_};
  std::vector<upstream_actor> out;
  for (const auto& [id, handle] : upstream_handles_)
    out.push_back(handle);
  return out;
}

void context::clear() {
  for (const auto& x : partitions_)
    x->clear();
  routers_.clear();
  identity = nullptr;
  supervisor = nullptr;
  const std::lock_guard guard{mutex_};
  upstream_handles_.clear();
}

} // namespace weir::actors
