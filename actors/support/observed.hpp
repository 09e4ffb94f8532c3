#pragma once

#include "actors/support/limits.hpp"

#include <caf/scheduled_actor.hpp>

namespace weir::actors {

/// How much of its mail an actor handles before the next one has its turn:
/// `brief` so many messages (actor_config), `full` up to
/// `limits::turn_messages_max`. One through which the work of a great many
/// others passes must be `full`: in a crowd it would get a few messages each
/// time that thousands have had their turn.
enum class turn : uint8_t { brief, full };

/// An actor whose kind is its name in what CAF reports. `Base` is
/// `some_actor::base`.
template <class Base>
class observed : public Base {
public:
  /// @param kind A literal.
  observed(caf::actor_config& config, const char* kind,
           turn length = turn::brief)
    : Base(config), kind_(kind), turn_(length) {
    // nop
  }

  const char* name() const override { return kind_; }

  caf::resumable::resume_result resume(caf::execution_unit* unit,
                                       size_t most) override {
    return Base::resume(unit,
                        turn_ == turn::full ? limits::turn_messages_max : most);
  }

private:
  const char* kind_;
  turn turn_;
};

} // namespace weir::actors
