#include "actors/support/partition_context.hpp"

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

void partition_context::clear() {
  journal = nullptr;
  sweeper = nullptr;
  readers.clear();
  consumer = nullptr;
  subscribers.clear();
}

} // namespace weir::actors
