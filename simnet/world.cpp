#include "simnet/world.hpp"

#include "simnet/datetime.hpp"

#include <algorithm>
#include <utility>

namespace weir::simnet {

namespace {

constexpr int64_t two_years = int64_t{2} * 365 * 86'400'000'000;

/// @param status Null for active.
atproto::account_event account_event(const world::account& x,
                                     const char* status) {
  atproto::account_event out;
  out.repo = x.id();
  out.active = status == nullptr;
  if (status)
    out.status = status;
  return out;
}

} // namespace

world::account::account(newcomer x, size_t number)
  : index(number), handle(std::move(x.handle)), repo(std::move(x.id), x.key),
    signing_key(x.key.public_part().to_multikey()), host(x.host),
    random(seeded_random(x.seed)) {}

world::world(network_options options)
  : truth(options.population.hosts + options.hostile.size(), options.relay,
          options.window),
    options_(options) {
  auto people = make_population(options_.population);
  for (const auto& x : people)
    dids_.push_back(x.id.str());
  maker_
    = std::make_unique<record_maker>(dids_, options_.population.unsafe_records);
  for (auto& x : people) {
    const auto records = x.records;
    fill(enter(std::move(x)), records);
  }
  const auto n = options_.population.accounts;
  for (size_t i = 0; i < n; ++i)
    if ((i + 1) * options_.population.deactivated / n
        != i * options_.population.deactivated / n)
      get(i).status = standing::deactivated;
  for (size_t i = 0; i < options_.hostile.size(); ++i)
    settle(options_.population.hosts + i, options_.hostile[i]);
}

size_t world::add_account() {
  const std::lock_guard joining{joining_};
  auto& x = enter(make_newcomer(options_.population, accounts()));
  const locked self{x};
  auto first = x.repo.commit({}, next_rev(x));
  first.event.prev_data = {};
  x.listed_rev = first.event.rev;
  announce_identity(x, true);
  announce_account(x, x.host, nullptr);
  announce(x, first.event);
  announce_sync(x, first.event.rev);
  auto profile = maker_->make_profile(*x.random, now());
  std::vector<change> changes;
  changes.push_back({atproto::op_action::create, std::move(profile.path),
                     std::move(profile.block)});
  commit(x, std::move(changes));
  return x.index;
}

atproto::tid world::next_rev(const account& x) const {
  const auto wanted
    = atproto::tid::from_time(now(), static_cast<uint16_t>(x.host));
  const auto last = std::max(x.repo.last().rev, x.listed_rev);
  return wanted > last ? wanted : atproto::tid{last.value() + 1};
}

void world::commit(account& x, std::vector<change> changes) {
  commit(x, std::move(changes), [](atproto::commit_event&) {});
}

void world::commit(account& x, std::vector<change> changes,
                   const std::function<void(atproto::commit_event&)>& alter) {
  auto made = x.repo.commit(std::move(changes), next_rev(x));
  x.listed_rev = made.event.rev;
  alter(made.event);
  announce(x, std::move(made.event));
}

change world::new_change(account& x) const {
  for (auto when = now();; when.micros += 1) {
    auto made = maker_->make(*x.random, when);
    if (!x.repo.tree().find(made.path))
      return {atproto::op_action::create, std::move(made.path),
              std::move(made.block)};
  }
}

std::string world::fresh_handle(account& x) const {
  for (;;) {
    auto out = make_handle(*x.random, x.index);
    if (!find_handle(out))
      return out;
  }
}

void world::rename(account& x, std::string handle) {
  const std::unique_lock lock{names_};
  by_handle_.erase(x.handle);
  x.handle = std::move(handle);
  by_handle_[x.handle] = x.index;
}

void world::announce(const account& x, atproto::commit_event event) {
  send(x, x.host, std::move(event));
}

void world::announce_sync(const account& x, atproto::tid rev) {
  const auto slice = x.repo.sync_slice();
  atproto::sync_event event;
  event.repo = x.id();
  event.rev = rev;
  event.blocks = slice;
  send(x, x.host, event);
}

void world::announce_identity(const account& x, bool with_handle) {
  atproto::identity_event event;
  event.repo = x.id();
  if (with_handle)
    event.handle = x.handle;
  send(x, x.host, event);
}

void world::announce_account(const account& x, size_t host,
                             const char* status) {
  send(x, host, account_event(x, status));
}

void world::announce_relay_account(const account& x, const char* status) {
  if (!x.muted)
    relay_log()->append(x.index, dated(account_event(x, status)));
}

/// Adds the account under the next number.
world::account& world::enter(newcomer x) {
  const std::unique_lock lock{names_};
  const auto index = accounts_.size();
  by_did_[x.id.str()] = index;
  by_handle_[x.handle] = index;
  return accounts_.emplace_back(std::move(x), index);
}

/// Gives a new account its records and signs the repository once.
void world::fill(account& x, uint64_t records) {
  const auto start = options_.population.epoch;
  for (uint64_t i = 0; i < records; ++i) {
    const wall_time when{start.micros
                         + static_cast<int64_t>(x.random->below(two_years))};
    auto made = i == 0 ? maker_->make_profile(*x.random, when)
                       : maker_->make(*x.random, when);
    if (x.repo.tree().find(made.path))
      --i;
    else
      x.repo.import(std::move(made.path), std::move(made.block));
  }
  x.first_records = records;
  const auto& people = options_.population;
  widen(x, people.own_collections
             + (x.index == 0 ? people.more_collections_of_first : 0));
  sign_first(x);
}

/// Makes the accounts of a hostile host.
void world::settle(size_t host, const hostile_host_options& options) {
  constexpr uint64_t records = 8;
  for (size_t i = 0; i < options.accounts; ++i) {
    auto made = make_newcomer(options_.population, accounts());
    made.host = host;
    auto& x = enter(std::move(made));
    if (options.kind != hostility::wide) {
      fill(x, records);
      continue;
    }
    widen(x, options.collections);
    sign_first(x);
  }
}

/// Stores the same record in many collections.
void world::widen(account& x, size_t collections) {
  if (collections == 0)
    return;
  const auto one = maker_->make(*x.random, options_.population.epoch);
  const auto start = "com.example.a" + std::to_string(x.index) + "x";
  for (size_t i = 0; i < collections; ++i)
    x.repo.import(start + std::to_string(i) + "/self", one.block);
  x.first_records += collections;
}

/// Signs at a time after everything initial.
void world::sign_first(account& x) {
  const auto start = options_.population.epoch;
  const wall_time end{start.micros + two_years + static_cast<int64_t>(x.index)};
  x.repo.sign(atproto::tid::from_time(end, static_cast<uint16_t>(x.host)));
  x.listed_rev = x.repo.last().rev;
}

template <class Event>
event_log::encoder world::dated(Event event) const {
  return [event = std::move(event),
          time = format_datetime(now())](int64_t seq) mutable {
    event.seq = seq;
    event.time = time;
    return encode_frame(event);
  };
}

template <class Event>
void world::send(const account& x, size_t host, Event event) {
  if (x.muted)
    return;
  const auto encode = dated(std::move(event));
  host_log(host).append(x.index, encode);
  if (relay_log() && host == x.host && !x.relay_takedown)
    relay_log()->append(x.index, encode);
}

account_view world::view(size_t index) const {
  const auto& x = get(index);
  const std::lock_guard lock{x.guard};
  const auto& chain = x.repo.last();
  return {x.index,
          x.id(),
          x.handle,
          x.signing_key,
          x.host,
          x.status,
          chain.rev,
          x.listed_rev,
          chain.head,
          chain.data,
          x.repo.tree().size(),
          x.former,
          x.relay_takedown};
}

/// Every second host sends its blocks in random order, as a real PDS does.
shared_bytes world::export_car(size_t index) const {
  const auto& x = get(index);
  const std::lock_guard lock{x.guard};
  if (x.host % 2 == 0)
    return shared_bytes{x.repo.export_car(nullptr)};
  const auto random = seeded_random(options_.population.seed + index);
  return shared_bytes{x.repo.export_car(random.get())};
}

} // namespace weir::simnet
