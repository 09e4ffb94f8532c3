#include "tests/sim/fairness.hpp"

#include "actors/supervisor/limits_scans.hpp"
#include "tests/sim/enemies.hpp"

#include <algorithm>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

/// An account that is not complete by then counts with this time.
constexpr microseconds patience = 1h;

/// How often all accounts write, and the rest between.
constexpr size_t rounds = 2;
constexpr microseconds rest = 30s;

microseconds next_look(microseconds passed) {
  if (passed < 20s)
    return 500ms;
  return passed < 2min ? microseconds{2s} : microseconds{30s};
}

class measurement {
public:
  explicit measurement(scene& x) : scene_(x) {
    // nop
  }

  void run(settling& out);

private:
  std::set<std::string> wrong();
  void watch(settling& out);
  void write();
  void fall();

  scene& scene_;
};

/// Accounts that are not complete yet.
std::set<std::string> measurement::wrong() {
  const auto repos = scene_.repos();
  std::set<std::string> out;
  const auto truth = scene_.life().truth().expected();
  if (!repos) {
    for (const auto& x : truth)
      out.insert(x.account.id.str());
    return out;
  }
  scene_.application().read([&](const apps::event_copy& copy) {
    out = compare(truth, *repos, copy, {}).wrong;
  });
  return out;
}

void measurement::watch(settling& out) {
  auto& truth = scene_.life().truth();
  std::set<std::string> left;
  for (size_t i = 0; i < truth.accounts(); ++i) {
    const auto did = truth.view(i).id.str();
    if (!is_of_enemy(truth, did))
      left.insert(did);
  }
  auto& times = out.emplace_back();
  const auto begin = scene_.time().now();
  for (;;) {
    const auto passed = scene_.time().now() - begin;
    const auto late = wrong();
    for (const auto& x : std::vector<std::string>{left.begin(), left.end()})
      if (!late.contains(x) || passed >= patience) {
        times[x] = passed;
        left.erase(x);
      }
    if (left.empty())
      return;
    scene_.steps().run_for(next_look(passed));
  }
}

/// Lets all active accounts write.
void measurement::write() {
  auto& truth = scene_.life().truth();
  for (size_t i = 0; i < truth.accounts(); ++i)
    if (truth.view(i).status == simnet::standing::active)
      scene_.life().traffic().post(i);
}

/// All accounts of honest hosts make a commit that no stream tells, and then
/// one that reveals it.
void measurement::fall() {
  auto& truth = scene_.life().truth();
  for (size_t i = 0; i < truth.accounts(); ++i) {
    const auto x = truth.view(i);
    simnet::fault order;
    order.kind = simnet::fault_kind::broken_chain;
    order.did = x.id.str();
    if (x.status == simnet::standing::active
        && !is_of_enemy(truth, order.did)
        && scene_.life().faults().inject(order))
      scene_.life().traffic().post(i);
  }
}

void measurement::run(settling& out) {
  watch(out);
  if (scene_.settings().subject == theme::siege) {
    scene_.steps().run_for(rest);
    fall();
    return watch(out);
  }
  for (size_t i = 0; i < rounds; ++i) {
    scene_.steps().run_for(rest);
    write();
    watch(out);
  }
}

std::string tell(microseconds x) {
  return std::to_string(x.count() / 1'000) + " ms";
}

} // namespace

settling measure_settling(uint64_t seed, bool enemies, trace& log) {
  scene x{seed, log, [enemies](run_settings& all) {
            all.speed.grain = 0us;
            // Whether a first fetch begins before its stream has a position is
            // a race. Such a fetch proves nothing, and the check of all rows
            // repairs that.
            all.node.completeness_interval
              = limits::completeness_interval_range.standard;
            if (!enemies)
              all.world.hostile.clear();
          }};
  settling out;
  if (!x.open() || !x.start_node())
    return out;
  measurement{x}.run(out);
  x.stop_node();
  return out;
}

std::string weigh_fairness(uint64_t seed, microseconds slack, trace& log) {
  const auto with = measure_settling(seed, true, log);
  const auto without = measure_settling(seed, false, log);
  if (with.size() != without.size() || with.empty())
    return "a run with hostile hosts, or the one without, does not start";
  for (size_t i = 0; i < with.size(); ++i)
    for (const auto& [did, time] : without[i]) {
      const auto found = with[i].find(did);
      const auto late = found == with[i].end() ? patience : found->second;
      if (late <= 2 * time + slack)
        continue;
      return did + " is whole after " + tell(late) + " beside hostile hosts, "
             + tell(time) + " without them ("
             + (i == 0 ? "after the start" : "after all wrote or fell out of sync") + ")";
    }
  return {};
}

} // namespace weir::sim
