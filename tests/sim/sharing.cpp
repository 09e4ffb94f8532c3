#include "tests/sim/sharing.hpp"

#include <algorithm>
#include <set>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

constexpr microseconds look_interval = 500ms;

/// An account that is not complete by then will never be.
constexpr microseconds patience = 30min;

/// The additional time that a fair turn may take: the first look-ups.
constexpr microseconds slack = 8s;

/// Downloads begin after this time, long before a host counts as silent.
constexpr std::chrono::milliseconds thinking{1'500};

/// This number of complete accounts falls out of sync when this part of all
/// accounts is complete.
constexpr size_t fallen = 1;
constexpr size_t fall_part = 5;

class weighing {
public:
  explicit weighing(scene& x) : scene_(x) {
    // nop
  }

  std::string run();

private:
  void slow_down();
  std::set<std::string> whole();
  void note(const std::set<std::string>& now_whole);
  void let_fall(const std::set<std::string>& now_whole);
  std::string check_first() const;
  std::string check_fallen() const;

  microseconds passed() const { return scene_.time().now() - begin_; }

  scene& scene_;
  steady_time begin_;
  std::map<size_t, microseconds> first_; ///< By host.
  /// The time until it was complete again.
  std::map<std::string, microseconds> fallen_;
  std::set<std::string> down_; ///< Those that are not complete again.
  microseconds fell_{0};
  microseconds all_{0};
};

std::set<std::string> weighing::whole() {
  const auto repos = scene_.repos();
  std::set<std::string> out;
  if (!repos)
    return out;
  for (const auto& x : scene_.life().truth().expected()) {
    const auto found = repos->find(x.account.id.str());
    if (found != repos->end() && found->second.status == "synced"
        && found->second.rev == x.account.rev.str()
        && found->second.records == x.records.size())
      out.insert(x.account.id.str());
  }
  return out;
}

void weighing::note(const std::set<std::string>& now_whole) {
  auto& truth = scene_.life().truth();
  for (const auto& did : now_whole) {
    first_.try_emplace(truth.view(*truth.find(did)).host, passed());
    if (down_.erase(did) > 0)
      fallen_[did] = passed() - fell_;
  }
}

/// Makes a commit that no stream tells, and one that reveals it.
void weighing::let_fall(const std::set<std::string>& now_whole) {
  auto& truth = scene_.life().truth();
  fell_ = passed();
  for (const auto& did : now_whole) {
    if (down_.size() == fallen)
      break;
    simnet::fault order;
    order.kind = simnet::fault_kind::broken_chain;
    order.did = did;
    if (scene_.life().faults().inject(order)) {
      scene_.life().traffic().post(*truth.find(did));
      down_.insert(did);
    }
  }
}

/// With turns, each host has had one when about as many are over as there are
/// hosts.
std::string weighing::check_first() const {
  for (const auto& [host, time] : first_)
    if (time > all_ / 3 + slack)
      return "the first account of host " + std::to_string(host)
             + " is whole after " + std::to_string(time.count() / 1'000)
             + " ms, the last of all after "
             + std::to_string(all_.count() / 1'000) + " ms";
  return {};
}

std::string weighing::check_fallen() const {
  for (const auto& [did, time] : fallen_)
    if (time > (all_ - fell_) / 2 + slack)
      return did + " fell out of sync and is whole again after "
             + std::to_string(time.count() / 1'000)
             + " ms, all that were never fetched after "
             + std::to_string((all_ - fell_).count() / 1'000) + " ms";
  return {};
}

void weighing::slow_down() {
  simnet::fault order;
  order.kind = simnet::fault_kind::slow_repo;
  order.count = 0;
  order.time = thinking;
  static_cast<void>(scene_.life().faults().inject(order));
}

std::string weighing::run() {
  slow_down();
  begin_ = scene_.time().now();
  const auto all = scene_.life().truth().accounts();
  auto fell = false;
  std::set<std::string> ever;
  while (ever.size() < all || !down_.empty()) {
    if (passed() > patience)
      return "not all accounts of honest hosts are whole";
    scene_.steps().run_for(look_interval);
    const auto now_whole = whole();
    ever.insert(now_whole.begin(), now_whole.end());
    note(now_whole);
    if (ever.size() == all && all_ == 0us)
      all_ = passed();
    if (!fell && ever.size() >= all / fall_part) {
      fell = true;
      let_fall(now_whole);
    }
  }
  auto out = check_first();
  return out.empty() ? check_fallen() : out;
}

} // namespace

std::string weigh_sharing(uint64_t seed, trace& log) {
  scene x{seed, log, [](run_settings& all) { all.speed.grain = 0us; }};
  if (!x.open() || !x.start_node())
    return "the run for honest hosts does not start";
  auto out = weighing{x}.run();
  x.stop_node();
  return out;
}

} // namespace weir::sim
