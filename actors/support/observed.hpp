#pragma once

#include "actors/support/limits.hpp"
#include "messages/status.hpp"

#include <caf/scheduled_actor.hpp>

#include <utility>

namespace weir::actors {

/// How many messages an actor handles before another actor runs: `brief` a few
/// (actor_config), `full` up to `limits::turn_messages_max`. An actor that
/// serves very many others must be `full`: otherwise, when all are busy, it
/// handles only a few messages each time that thousands of others have run.
enum class turn : uint8_t { brief, full };

/// An actor that CAF reports under the name of its kind. `Base` is
/// `some_actor::base`.
template <class Base>
class observed : public Base {
public:
  /// @param kind A string literal.
  observed(caf::actor_config& config, const char* kind,
           turn length = turn::brief)
    : Base(config), kind_(kind), turn_(length) {}

  const char* name() const override { return kind_; }

  caf::resumable::resume_result resume(caf::execution_unit* unit,
                                       size_t most) override {
    return Base::resume(unit,
                        turn_ == turn::full ? limits::turn_messages_max : most);
  }

protected:
  /// The answer to `get_status`.
  /// @param which Names it among its kind; empty: there is one.
  /// @param parent The kind of actor that started it.
  actor_status status(std::vector<status_field> state, std::string which = {},
                      std::string parent = "node") const {
    return {which.empty() ? kind_ : std::move(which), kind_, std::move(parent),
            std::move(state)};
  }

private:
  const char* kind_;
  turn turn_;
};

} // namespace weir::actors
