#include "tests/sim/performer.hpp"

#include "actors/identity/limits.hpp"
#include "tests/sim/deed_effects.hpp"
#include "tests/sim/occurrences.hpp"
#include "tests/sim/oddities.hpp"
#include "tests/sim/scope.hpp"

#include <thread>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

/// Until then a stream may have no position, so its events cannot be requested
/// again.
const steady_time first_positions = timeline::begin + 10s;

void write_all(scene& x) {
  auto& truth = x.life().truth();
  for (size_t i = 0; i < truth.accounts(); ++i)
    if (truth.view(i).status == simnet::standing::active)
      x.life().traffic().post(i);
}

} // namespace

performer::performer(scene& x)
  : scene_(x), clients_(x), deaths_(x.steps()), manager_(x),
    removals_(x), last_words_(x) {
  const auto& settings = x.settings();
  may_.relayed = settings.follows != following::hosts;
  may_.unacked = settings.node.consumer_disable_acks;
  may_.unproved = settings.node.completeness_interval > 24h && !settings.audited;
  // With a window this short any interruption loses events.
  may_.lost_events = settings.world.window.frames_max < 1'000;
}

result<void> performer::start() {
  let_enemies_fail();
  auto started = manager_.start();
  add_by_hand(scene_);
  return started;
}

// -- deeds --------------------------------------------------------------------

void performer::count(const deed& x) {
  ++counts_[x.kind == deed_kind::fault
              ? std::string{"fault "} + simnet::to_string(x.what)
              : std::string{to_string(x.kind)}];
  count_details(x, counts_);
}

uint64_t performer::count_of(deed_kind x) const {
  const auto found = counts_.find(to_string(x));
  return found == counts_.end() ? 0 : found->second;
}

const std::string& performer::origin_of(const deed& x) const {
  const auto& urls = scene_.urls();
  switch (x.of) {
    case server::relay:
      return urls.relay;
    case server::directory:
      return urls.plc;
    default:
      return urls.hosts[host_of(x)];
  }
}

/// A deed at a host affects the host of the account with the same number, and
/// sometimes any host, because hostile ones have few accounts.
size_t performer::host_of(const deed& x) const {
  const auto& truth = scene_.life().truth();
  const auto hosts = scene_.urls().hosts.size();
  return x.number % 4 == 0 ? x.number % hosts
                           : truth.view(x.number % truth.accounts()).host;
}

std::vector<std::string> performer::servers() const {
  auto out = scene_.urls().hosts;
  out.push_back(scene_.urls().relay);
  out.push_back(scene_.urls().plc);
  return out;
}

std::string performer::account(const deed& x) const {
  auto& truth = scene_.life().truth();
  return truth.view(x.number % truth.accounts()).id.str();
}

void performer::perform(const deed& x) {
  may_.lost_events |= parts_from_streams(x.kind);
  may_.late |= hides_delays(x)
               || (x.kind == deed_kind::fault && denies(x.what));
  may_.misled |= x.kind == deed_kind::fault && denies(x.what);
  last_words_.note(x, x.of == server::relay ? std::nullopt
                                            : std::optional{host_of(x)});
  scene_.log().note(scene_.time().now(), "deed", to_string(x.kind),
                    x.number);
  auto& faults = scene_.disk_faults();
  switch (x.kind) {
    case deed_kind::life:
      scene_.life().traffic().make(static_cast<size_t>(x.value));
      break;
    case deed_kind::writes:
      plan_writes(x);
      break;
    case deed_kind::newcomers:
      for (int64_t i = 0; i < x.value; ++i)
        scene_.life().truth().add_account();
      break;
    case deed_kind::fault:
      return perform_fault(x);
    case deed_kind::refuse:
    case deed_kind::swallow:
    case deed_kind::stall:
    case deed_kind::crawl:
    case deed_kind::cut:
    case deed_kind::flap:
      disturb_road(x);
      break;
    case deed_kind::unname:
    case deed_kind::mute_name:
      scene_.set_naming(origin_of(x), x.kind == deed_kind::unname
                                        ? naming::unknown
                                        : naming::silent);
      scene_.net().cut(port_of(x));
      break;
    case deed_kind::clock:
      scene_.node_clock().set_wrong(std::chrono::seconds{x.value});
      break;
    case deed_kind::disk_full:
      faults.budget(static_cast<uint64_t>(x.value));
      break;
    case deed_kind::disk_error:
      faults.plan({.nth = static_cast<uint64_t>(x.value),
                   .error = tests::io_error::io,
                   .torn = static_cast<unsigned>(x.number * 4),
                   .thread = std::this_thread::get_id()});
      break;
    case deed_kind::kill:
      manager_.kill();
      break;
    case deed_kind::kill_again:
      manager_.kill_again(2 + x.number % 10);
      [[fallthrough]];
    case deed_kind::kill_in_write:
    case deed_kind::power:
      manager_.kill_in_call(static_cast<uint64_t>(x.value), x.kind == deed_kind::power);
      break;
    case deed_kind::restart:
      manager_.restart(std::min<microseconds>(x.lasting, 1h));
      break;
    case deed_kind::hang_up:
      scene_.application().drop_connection();
      break;
    case deed_kind::forget:
      scene_.application().set_forgetful(1 + x.number % 5);
      break;
    case deed_kind::die:
      deaths_.order(x, scene_.time().now());
      break;
    case deed_kind::all_write:
      write_all(scene_);
      break;
    case deed_kind::names:
    case deed_kind::bodies:
    case deed_kind::leave:
      clients_.perform(x);
      break;
    default:
      return ask_node(x);
  }
  plan_end(x);
  count(x);
}

/// Schedules the end of a deed that lasts.
void performer::plan_end(const deed& x) {
  const auto end = scene_.time().now() + x.lasting;
  switch (x.kind) {
    case deed_kind::refuse:
    case deed_kind::swallow:
    case deed_kind::crawl:
    case deed_kind::stall:
    case deed_kind::flap:
      scene_.time().set(end, [this, port = port_of(x)] {
        scene_.mend_road(port);
      });
      break;
    case deed_kind::unname:
    case deed_kind::mute_name:
      scene_.time().set(end, [this, origin = origin_of(x)] {
        scene_.set_naming(origin, naming::found);
      });
      break;
    case deed_kind::clock:
      scene_.time().set(end, [this] { scene_.node_clock().set_wrong(0us); });
      break;
    case deed_kind::disk_full:
      scene_.time().set(end,
                        [this] { scene_.disk_faults().budget(std::nullopt); });
      break;
    case deed_kind::forget:
      scene_.time().set(end,
                        [this] { scene_.application().set_forgetful(0); });
      break;
    default:
      break;
  }
}

/// Spreads the writes over the deed's duration.
void performer::plan_writes(const deed& x) {
  const auto index = x.number % scene_.life().truth().accounts();
  const auto pause = x.lasting / x.value;
  for (int64_t i = 0; i < x.value; ++i)
    scene_.time().set(scene_.time().now() + i * pause, [this, index] {
      if (scene_.life().truth().view(index).status
          == simnet::standing::active)
        scene_.life().traffic().write(index);
    });
}

void performer::disturb_road(const deed& x) {
  const auto port = port_of(x);
  auto& way = scene_.net().to(port);
  way.refuses = x.kind == deed_kind::refuse;
  way.swallows = x.kind == deed_kind::swallow;
  way.stalls = x.kind == deed_kind::stall;
  way.lifetime = microseconds{x.kind == deed_kind::flap ? x.value * 1'000 : 0};
  way.crawls = x.kind == deed_kind::crawl;
  if (way.crawls)
    way.bytes_per_second = static_cast<uint64_t>(x.value);
  else if (x.kind != deed_kind::stall)
    scene_.net().cut(port);
}

void performer::perform_fault(const deed& x) {
  auto& truth = scene_.life().truth();
  simnet::fault order;
  order.kind = x.what;
  const auto is_stream = x.what <= simnet::fault_kind::restart_sequence;
  if (x.of != server::relay && x.what < simnet::fault_kind::directory_down
      && (is_stream || simnet::is_of_requests(x.what)))
    order.host = host_of(x);
  if (!is_stream && !simnet::is_of_requests(x.what)
      && (x.exact || !ends_absence(x.what)))
    order.did = truth.view(x.number % truth.accounts()).id.str();
  order.count = simnet::is_of_requests(x.what) ? 0 : 1 + x.number % 4;
  order.time = std::chrono::seconds{1 + x.number};
  order.lasting
    = std::chrono::duration_cast<std::chrono::milliseconds>(x.lasting);
  order.silent = x.silent;
  if (x.value > 0)
    order.rate = static_cast<uint64_t>(x.value);
  // The node cannot know a handle that no stream tells.
  if (x.what == simnet::fault_kind::change_handle)
    order.silent = false;
  may_.silent |= x.what == simnet::fault_kind::restart_sequence
                 && has_few_events(truth, order.host);
  const auto done = scene_.life().faults().inject(order);
  may_.lost_events |= loses_events(x.what);
  if (x.what == simnet::fault_kind::restart_sequence
      && scene_.settings().about == plot::numbers)
    manager_.distrust_positions_until(scene_.time().now() + renumbered_in);
  else if (tells_lies(x.what))
    manager_.distrust_positions();
  const auto is_told = !order.silent || !done || order.did.empty();
  may_.silent |= !is_told
                 || x.what == simnet::fault_kind::lose_silently;
  if (!done)
    return; // For example, because the account is in another state.
  if (x.what == simnet::fault_kind::tombstone) {
    const auto index = x.number % truth.accounts();
    if (x.silent || scene_.time().now() < first_positions)
      may_.untold.insert(truth.view(index).id.str());
    if (!x.silent)
      truth.announce_identity(*truth.at(index), false);
  }
  if (x.what == simnet::fault_kind::throttle_stream)
    scene_.time().set(scene_.time().now() + x.lasting, [this, order]() mutable {
      order.rate = 0;
      static_cast<void>(scene_.life().faults().inject(order));
    });
  if (x.what == simnet::fault_kind::delay_stream)
    scene_.time().set(scene_.time().now() + x.lasting, [this, order]() mutable {
      order.count = 0;
      static_cast<void>(scene_.life().faults().inject(order));
    });
  count(x);
}

/// Lets downloads of hostile hosts fail before and after everything else.
void performer::let_enemies_fail() {
  if (!scene_.settings().enemies_fail)
    return;
  const auto honest = scene_.settings().world.population.hosts;
  for (auto i = honest; i < scene_.urls().hosts.size(); ++i) {
    simnet::fault order;
    order.kind = simnet::fault_kind::failing_repo;
    order.host = i;
    order.count = 0;
    static_cast<void>(scene_.life().faults().inject(order));
  }
}

void performer::ask_node(const deed& x) {
  if (!scene_.node_runs())
    return;
  const auto did = account(x);
  if (x.kind == deed_kind::remove)
    removals_.remove(did, clients_.app_is_away());
  else if (!order(scene_, to_string(x.kind), did))
    return; // For example, because its disk is full.
  if (x.kind == deed_kind::add)
    removals_.note_added(did);
  count(x);
}

// -- the end ------------------------------------------------------------------

void performer::mend() {
  scene_.log().note(scene_.time().now(), "mend", "all");
  scene_.node_clock().set_wrong(0us);
  manager_.kill_again(0);
  scene_.disk_faults().heal();
  scene_.disk_faults().budget(std::nullopt);
  scene_.application().set_forgetful(0);
  for (const auto& x : servers()) {
    scene_.mend_road(sim::port_of(x));
    scene_.set_naming(x, naming::found);
  }
  auto& faults = scene_.life().faults();
  for (const auto kind : {simnet::fault_kind::mend,
                          simnet::fault_kind::directory_up}) {
    simnet::fault order;
    order.kind = kind;
    static_cast<void>(faults.inject(order));
  }
  for (size_t i = 0; i <= scene_.urls().hosts.size(); ++i) {
    simnet::fault order;
    order.kind = simnet::fault_kind::throttle_stream;
    if (i < scene_.urls().hosts.size())
      order.host = i;
    order.rate = 0;
    static_cast<void>(faults.inject(order));
    order.kind = simnet::fault_kind::delay_stream;
    order.count = 0;
    static_cast<void>(faults.inject(order));
  }
  // A longer stop ends soon, so that later requests reach a node that runs.
  manager_.hurry();
  let_enemies_fail();
  deaths_.end();
  clients_.mend();
  run_for(service_manager::restart_delay + 1s);
  last_words_.say();
  look_ups_again_ = scene_.time().now() + limits::lookup_pause_max;
  refused_ = true;
  ask_refused();
}

void performer::say_to_waiting() {
  if (look_ups_again_ && scene_.time().now() > *look_ups_again_
      && last_words_.say_to_waiting())
    look_ups_again_.reset();
}

void performer::ask_refused() {
  if (!refused_ || !scene_.node_runs())
    return;
  refused_ = !add_by_hand(scene_);
  refused_ |= !removals_.ask_again();
  const auto& removed = removals_.removed();
  if (scene_.settings().removals_stay)
    may_.unjudged.insert(removed.begin(), removed.end());
  else
    refused_ |= !removals_.add_all_again();
  if (!refused_)
    last_words_.say_of_relay(removals_.ever());
}

} // namespace weir::sim
