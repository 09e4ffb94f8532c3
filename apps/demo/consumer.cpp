#include "apps/demo/consumer.hpp"

#include "base/clock.hpp"

#include <mutex>
#include <set>
#include <unordered_map>

namespace weir::apps {

struct demo_consumer::memory {
  /// @returns the ids to ack.
  std::vector<uint64_t> take(const std::vector<std::string_view>& events) {
    std::vector<uint64_t> out;
    const std::lock_guard lock{guard};
    for (const auto x : events)
      if (const auto id = take(x))
        out.push_back(*id);
    return out;
  }

  std::optional<uint64_t> take(std::string_view event) {
    const auto x = copy.take(event, system_clock().wall_now());
    if (!x)
      return std::nullopt;
    auto& waiting = forgotten[x->did];
    const auto forgets = forget_every != 0 && !x->again
                         && (copy.counts().received - 1) % forget_every == 0;
    if (watch)
      watch(copy, *x, !forgets);
    if (forgets) {
      waiting.insert(x->id);
      ++count.forgotten;
      return std::nullopt;
    }
    if (x->again && waiting.erase(x->id) > 0)
      ++count.recovered;
    if (waiting.empty())
      forgotten.erase(x->did);
    return x->id;
  }

  mutable std::mutex guard; ///< Guards all below.
  event_copy copy;
  counters count;
  /// Ids whose ack was left out, by account.
  std::unordered_map<std::string, std::set<uint64_t>> forgotten;
  uint64_t forget_every = 0;
  witness watch;
};

demo_consumer::demo_consumer(net::transport_ptr network,
                             const std::string& data_url,
                             std::chrono::microseconds reconnect_delay,
                             witness watch)
  : memory_(std::make_shared<memory>()),
    client_(std::move(network), data_url,
            {[x = memory_](const auto& events) {
               return x->take(events);
             },
             {},
             {},
             reconnect_delay}) {
  memory_->watch = std::move(watch);
}

void demo_consumer::set_forgetful(uint64_t every) {
  const std::lock_guard lock{memory_->guard};
  memory_->forget_every = every;
}

void demo_consumer::forget_records(const std::string& did) {
  const std::lock_guard lock{memory_->guard};
  memory_->copy.forget_records(did);
  memory_->forgotten.erase(did);
}

demo_consumer::counters demo_consumer::counts() const {
  const std::lock_guard lock{memory_->guard};
  return memory_->count;
}

void demo_consumer::read(
  const std::function<void(const event_copy&)>& look) const {
  const std::lock_guard lock{memory_->guard};
  look(memory_->copy);
}

} // namespace weir::apps
