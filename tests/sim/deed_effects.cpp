#include "tests/sim/deed_effects.hpp"

namespace weir::sim {

bool ends_absence(simnet::fault_kind x) noexcept {
  return x == simnet::fault_kind::restore
         || x == simnet::fault_kind::reactivate
         || x == simnet::fault_kind::relay_restore;
}

bool parts_from_streams(deed_kind x) noexcept {
  switch (x) {
    case deed_kind::life:
    case deed_kind::writes:
    case deed_kind::all_write:
    case deed_kind::newcomers:
    case deed_kind::fault:
    case deed_kind::clock:
    case deed_kind::hang_up:
    case deed_kind::forget:
    case deed_kind::names:
    case deed_kind::bodies:
    case deed_kind::leave:
    case deed_kind::add:
    case deed_kind::remove:
    case deed_kind::resync:
      return false;
    default:
      return true;
  }
}

bool hides_delays(const deed& x) noexcept {
  return x.kind == deed_kind::stall
         || (x.kind == deed_kind::fault
             && x.what == simnet::fault_kind::delay_stream);
}

bool denies(simnet::fault_kind x) noexcept {
  return x >= simnet::fault_kind::directory_wrong
         && x <= simnet::fault_kind::directory_gone;
}

bool is_of_directory(const deed& x) noexcept {
  return x.kind == deed_kind::fault
           ? x.what >= simnet::fault_kind::directory_down
               && x.what <= simnet::fault_kind::directory_up
           : x.of == server::directory;
}

bool loses_events(simnet::fault_kind x) noexcept {
  return x == simnet::fault_kind::lose_window
         || x == simnet::fault_kind::lose_silently
         || x == simnet::fault_kind::restart_sequence;
}

bool tells_lies(simnet::fault_kind x) noexcept {
  return x == simnet::fault_kind::restart_sequence
         || x == simnet::fault_kind::bad_signature
         || x == simnet::fault_kind::bad_shape
         || x == simnet::fault_kind::early_commit
         || x == simnet::fault_kind::broken_chain;
}

bool has_few_events(const simnet::world& truth,
                    const std::optional<size_t>& host) {
  constexpr auto few = 64;
  const auto& log = host ? truth.host_log(*host) : *truth.relay_log();
  return log.newest() < few;
}

} // namespace weir::sim
