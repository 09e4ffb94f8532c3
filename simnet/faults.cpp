#include "simnet/faults.hpp"

#include "simnet/lifecycle.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace weir::simnet {

namespace {

constexpr std::array<const char*, fault_kinds> names{
  "drop_connection",  "lose_window",     "lose_silently",   "garble_events",
  "throttle_stream",  "repeat_events",   "delay_stream",    "restart_sequence",
  "bad_signature",    "broken_chain",    "wrong_prev_data", "big_commit",
  "bad_shape",        "early_commit",    "rotate_key",      "change_handle",
  "take_down",        "suspend",         "restore",         "deactivate",
  "reactivate",       "remove",          "tombstone",       "relay_take_down",
  "relay_restore",    "announce_state",  "migrate",         "slow_repo",
  "trickle_repo",     "endless_repo",    "failing_repo",    "cut_repo",
  "stale_repo",       "missing_repo",    "unlisted_repo",   "false_status",
  "rate_limit",       "host_down",       "host_hang",       "mend",
  "directory_down",   "directory_limit", "directory_slow",  "directory_hang",
  "directory_refuse", "directory_wrong", "directory_stale", "directory_forget",
  "directory_gone",   "directory_up"};

/// No clock is wrong by as much as this.
constexpr auto early_by = std::chrono::hours{24};

/// True when a fault can happen to an account in this state.
bool fits(fault_kind kind, standing status, bool relay_takedown) noexcept {
  switch (kind) {
    case fault_kind::relay_take_down:
      return status == standing::active && !relay_takedown;
    case fault_kind::relay_restore:
      return relay_takedown;
    case fault_kind::restore:
      return status == standing::takendown || status == standing::suspended;
    case fault_kind::reactivate:
      return status == standing::deactivated;
    default:
      return status == standing::active;
  }
}

error no_relay() {
  return fail(ec::invalid_argument, "this network has no relay");
}

error no_such_host() {
  return fail(ec::invalid_argument, "no such host");
}

/// The result of `get` for every account.
template <class T>
std::shared_ptr<const std::vector<T>> of_all(const world& from,
                                             T (world::*get)(size_t) const) {
  std::vector<T> out;
  for (size_t i = 0; i < from.accounts(); ++i)
    out.push_back((from.*get)(i));
  return std::make_shared<const std::vector<T>>(std::move(out));
}

} // namespace

const char* to_string(fault_kind x) noexcept {
  return names[static_cast<size_t>(x)];
}

std::vector<std::string> fault_names() {
  return {names.begin(), names.end()};
}

std::optional<fault_kind> parse_fault_kind(std::string_view x) noexcept {
  const auto at = std::ranges::find(names, x, [](const char* name) {
    return std::string_view{name};
  });
  if (at == names.end())
    return std::nullopt;
  return static_cast<fault_kind>(at - names.begin());
}

faults::faults(world& where, traffic& life, request_faults& requests)
  : world_(where), traffic_(life), requests_(requests),
    random_(seeded_random(where.options().population.seed + 1)) {}

result<fault_record> faults::inject(const fault& x) {
  if (x.host && *x.host >= world_.hosts())
    return no_such_host();
  auto out = perform(x);
  if (!out)
    return out;
  out->kind = x.kind;
  const std::lock_guard lock{guard_};
  ledger_.push_back(*out);
  return out;
}

std::map<std::string, uint64_t> faults::injected() const {
  std::map<std::string, uint64_t> out;
  const std::lock_guard lock{guard_};
  for (const auto& x : ledger_)
    ++out[to_string(x.kind)];
  return out;
}

result<fault_record> faults::perform(const fault& x) {
  if (x.kind <= fault_kind::restart_sequence)
    return disturb_stream(x);
  if (x.kind <= fault_kind::migrate)
    return disturb_account(x);
  return order_requests(x);
}

result<fault_record> faults::disturb_stream(const fault& x) {
  auto* log = x.host ? &world_.host_log(*x.host) : world_.relay_log();
  if (!log)
    return no_relay();
  fault_record out;
  switch (x.kind) {
    case fault_kind::throttle_stream:
      log->set_rate(x.rate);
      return out;
    case fault_kind::repeat_events:
      out.count = log->repeat(x.count);
      return out;
    case fault_kind::delay_stream:
      x.count == 0 ? log->let_go() : log->hold_back();
      return out;
    case fault_kind::drop_connection:
      out.count = log->cut();
      return out;
    case fault_kind::restart_sequence:
      log->restart();
      break;
    default:
      out = lose(*log, x);
  }
  log->cut();
  return out;
}

/// Loses at least `x.count` commits, and all other events made meanwhile.
fault_record faults::lose(event_log& log, const fault& x) {
  log.begin_loss(x.kind == fault_kind::garble_events ? event_log::loss::garbled
                                                     : event_log::loss::gone);
  for (size_t i = 0; i < x.count; ++i)
    if (const auto index = any_account(x))
      traffic_.post(*index);
  auto lost = log.end_loss(x.kind == fault_kind::lose_window);
  fault_record out;
  out.count = lost.size();
  std::ranges::sort(lost);
  lost.erase(std::unique(lost.begin(), lost.end()), lost.end());
  for (const auto index : lost)
    out.dids.push_back(world_.view(index).id.str());
  return out;
}

result<fault_record> faults::disturb_account(const fault& x) {
  const auto index = choose(x);
  if (!index)
    return index.error();
  const auto self = world_.at(*index);
  if (!fits(x.kind, self->status, self->relay_takedown))
    return fail(ec::invalid_argument,
                self->id().str() + " is " + to_string(self->status));
  if (x.kind == fault_kind::relay_take_down && !world_.relay_log())
    return no_relay();
  if (x.kind == fault_kind::migrate) {
    const auto target = new_home(*self, x);
    if (target >= world_.hosts())
      return no_such_host();
    if (target == self->host)
      return fail(ec::invalid_argument, "the account lives there already");
  }
  self->muted = x.silent;
  happen(*self, x);
  self->muted = false;
  fault_record out;
  out.dids.push_back(self->id().str());
  return out;
}

result<fault_record> faults::order_requests(const fault& x) {
  fault_record out;
  if (!is_of_requests(x.kind)) {
    if (x.kind == fault_kind::directory_up)
      requests_.clear(fault_kind::directory_down, fault_kind::directory_gone);
    else
      requests_.clear(fault_kind::slow_repo, fault_kind::host_hang);
    return out;
  }
  if (x.kind == fault_kind::trickle_repo && x.rate == 0)
    return fail(ec::invalid_argument, "a rate is above 0");
  out.count = x.count == 0 ? SIZE_MAX : x.count;
  if (!x.did.empty())
    out.dids.push_back(x.did);
  request_faults::order made{x.kind, x.host, x.did, out.count, x.time,
                             x.rate, {},     {},    {}};
  if (x.lasting.count() > 0)
    made.until = world_.options().time->steady_now() + x.lasting;
  if (x.kind == fault_kind::directory_stale)
    made.past = of_all(world_, &world::view);
  if (x.kind == fault_kind::stale_repo)
    made.repositories = of_all(world_, &world::export_car);
  requests_.add(std::move(made));
  return out;
}

result<size_t> faults::choose(const fault& x) {
  const auto index = x.did.empty() ? any_account(x) : world_.find(x.did);
  if (!index)
    return fail(ec::not_found, x.did.empty()
                                 ? "no account is in a fitting state"
                                 : "no such account: " + x.did);
  return *index;
}

/// A random account on which `x` can be carried out.
std::optional<size_t> faults::any_account(const fault& x) {
  const auto n = world_.accounts();
  size_t start = 0;
  {
    const std::lock_guard lock{guard_};
    start = random_->below(n);
  }
  for (size_t i = 0; i < n; ++i) {
    const auto index = (start + i) % n;
    const auto view = world_.view(index);
    if (fits(x.kind, view.status, view.relay_takedown)
        && x.host.value_or(view.host) == view.host)
      return index;
  }
  return std::nullopt;
}

void faults::happen(world::account& x, const fault& what) {
  switch (what.kind) {
    case fault_kind::bad_signature:
      return forge_commit(world_, x, world_.next_rev(x));
    case fault_kind::early_commit:
      return forge_commit(world_, x,
                          atproto::tid::from_time(world_.now() + early_by, 0));
    case fault_kind::broken_chain:
      return break_chain(world_, x);
    case fault_kind::wrong_prev_data:
      return mislead_commit(world_, x);
    case fault_kind::big_commit:
      return leave_out(world_, x);
    case fault_kind::bad_shape:
      return misname_commit(world_, x);
    case fault_kind::announce_state:
      return world_.announce_sync(x, x.listed_rev);
    case fault_kind::rotate_key:
      return rotate_key(world_, x);
    case fault_kind::change_handle:
      return change_handle(
        world_, x, what.handle.empty() ? world_.fresh_handle(x) : what.handle);
    case fault_kind::take_down:
      return make_inactive(world_, x, standing::takendown);
    case fault_kind::suspend:
      return make_inactive(world_, x, standing::suspended);
    case fault_kind::deactivate:
      return make_inactive(world_, x, standing::deactivated);
    case fault_kind::restore:
      return restore(world_, x);
    case fault_kind::reactivate:
      return reactivate(world_, x);
    case fault_kind::remove:
      return remove_account(world_, x);
    case fault_kind::tombstone:
      x.status = standing::tombstoned; // Only the directory says so.
      return;
    case fault_kind::relay_take_down:
      return take_down_at_relay(world_, x);
    case fault_kind::relay_restore:
      return restore_at_relay(world_, x);
    default:
      return migrate(world_, x, new_home(x, what));
  }
}

} // namespace weir::simnet
