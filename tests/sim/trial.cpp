#include "tests/sim/trial.hpp"

#include "apps/weir/demo_proof.hpp"

namespace weir::sim {

verdict run_trial(uint64_t seed, std::ostream* trace_out) {
  using namespace std::chrono_literals;
  trace log{trace_out};
  verdict out;
  scene x{seed, log};
  if (auto ok = x.open(); !ok) {
    out.broken = "start";
    out.how = to_string(ok.error());
    return out;
  }
  if (auto ok = x.start_node(); !ok) {
    out.broken = "start";
    out.how = to_string(ok.error());
    return out;
  }
  x.life().set_rate(0.5);
  x.steps().run_for(120s);
  x.life().set_rate(0);
  x.steps().run_for(600s);
  const auto repos = x.repos();
  const auto truth = x.life().truth().expected();
  x.application().read([&](const apps::event_copy& copy) {
    const auto found = apps::compare(truth, *repos, copy);
    if (!found.equal()) {
      out.broken = "equal";
      out.how = found.differences.front();
    }
  });
  out.steps = x.steps().steps();
  out.trace_hash = log.hash();
  out.virtual_time
    = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::microseconds{x.time().now().micros - 1'000'000'000});
  return out;
}

} // namespace weir::sim
