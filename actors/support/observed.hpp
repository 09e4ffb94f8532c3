#pragma once

#include "actors/support/limits.hpp"

#include <caf/actor_control_block.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/scheduled_actor.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::actors {

/// Live numbers of one actor, readable from any thread without asking it.
struct actor_counters {
  std::string kind;
  std::string name;
  uint64_t id = 0;
  std::atomic<uint64_t> received{0};
  std::atomic<uint64_t> handled{0};
};

using actor_counters_ptr = std::shared_ptr<actor_counters>;

/// All observed actors of a process: what the console's `actors` shows.
class actor_directory {
public:
  void add(actor_counters_ptr x);
  void remove(uint64_t id);
  std::vector<actor_counters_ptr> all() const;

private:
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, actor_counters_ptr> entries_;
};

/// The process's directory. Static lifetime.
actor_directory& directory();

/// How much of its mail an actor handles before the next one has its turn:
/// `brief` so many messages (actor_config), `full` up to
/// `limits::turn_messages_max`. One through which the work of a great many
/// others passes must be `full`: in a crowd it would get a few messages each
/// time that thousands have had their turn.
enum class turn : uint8_t { brief, full };

/// Counts what an actor receives and handles; depth is the difference. `Base`
/// is `some_actor::base`.
template <class Base>
class observed : public Base {
public:
  observed(caf::actor_config& config, std::string kind, std::string name,
           turn length = turn::brief)
    : Base(config), counters_(std::make_shared<actor_counters>()),
      turn_(length) {
    counters_->kind = std::move(kind);
    counters_->name = std::move(name);
    counters_->id = this->id();
    directory().add(counters_);
  }

  const char* name() const override {
    return counters_->kind.c_str();
  }

  void enqueue(caf::mailbox_element_ptr x, caf::execution_unit* unit) override {
    counters_->received.fetch_add(1, std::memory_order_relaxed);
    Base::enqueue(std::move(x), unit);
  }

  caf::resumable::resume_result resume(caf::execution_unit* unit,
                                       size_t most) override {
    return Base::resume(unit,
                        turn_ == turn::full ? limits::turn_messages_max : most);
  }

  caf::invoke_message_result consume(caf::mailbox_element& x) override {
    const auto outcome = Base::consume(x);
    if (outcome != caf::invoke_message_result::skipped)
      counters_->handled.fetch_add(1, std::memory_order_relaxed);
    return outcome;
  }

  void on_exit() override {
    directory().remove(this->id());
    Base::on_exit();
  }

private:
  actor_counters_ptr counters_;
  turn turn_;
};

} // namespace weir::actors
