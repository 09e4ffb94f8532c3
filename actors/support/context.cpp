#include "actors/support/context.hpp"

namespace weir::actors {

void log_subscribers::add(consumer_actor x) {
  const std::lock_guard guard{mutex_};
  list_.push_back(std::move(x));
}

void log_subscribers::clear() {
  const std::lock_guard guard{mutex_};
  list_.clear();
}

std::vector<consumer_actor> log_subscribers::all() const {
  const std::lock_guard guard{mutex_};
  return list_;
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
  journal = nullptr;
  sweeper = nullptr;
  readers.clear();
  routers_.clear();
  supervisor = nullptr;
  identity = nullptr;
  subscribers.clear();
  const std::lock_guard guard{mutex_};
  upstream_handles_.clear();
}

} // namespace weir::actors
