#include "simnet/traffic.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>

namespace weir::simnet {

namespace {

/// Activity falls more slowly with the rank than size does.
constexpr double activity_exponent = 1.0;

/// Accounts, busiest first. Mostly those with many records are busy.
std::vector<size_t> rank_accounts(const world& x, random_source& random) {
  std::vector<std::pair<double, size_t>> weighed;
  for (size_t i = 0; i < x.accounts(); ++i)
    weighed.emplace_back(
      static_cast<double>(x.view(i).records + 1) * random.unit(), i);
  std::ranges::sort(weighed, std::greater<>{});
  std::vector<size_t> out;
  for (const auto& [weight, index] : weighed)
    out.push_back(index);
  return out;
}

/// How often in a row an inactive account may be drawn.
constexpr size_t attempts_max = 64;

} // namespace

traffic::traffic(world& where)
  : world_(where), ranks_(where.accounts(), activity_exponent),
    random_(seeded_random(~where.options().population.seed)),
    by_rank_(rank_accounts(where, *random_)) {}

size_t traffic::make(size_t n) {
  for (size_t made = 0; made < n; ++made)
    if (!act())
      return made;
  return n;
}

void traffic::write(size_t index) {
  constexpr std::array kinds{deed::create, deed::update, deed::remove,
                             deed::batch};
  const auto self = world_.at(index);
  perform(*self, kinds[self->random->below(kinds.size())]);
}

traffic_counts traffic::counts() const noexcept {
  traffic_counts out;
  out.commits = commits_;
  out.operations = operations_;
  out.identities = identities_;
  out.accounts = accounts_;
  out.events = out.commits + out.identities + out.accounts;
  return out;
}

traffic::choice traffic::choose() {
  const std::lock_guard lock{guard_};
  const auto index = by_rank_[ranks_.pick(*random_)];
  const auto& mix = world_.options().mix;
  auto x = random_->below(1000);
  const auto falls_in = [&x](unsigned share) {
    if (x < share)
      return true;
    x -= share;
    return false;
  };
  if (falls_in(mix.updates))
    return {index, deed::update};
  if (falls_in(mix.removals))
    return {index, deed::remove};
  if (falls_in(mix.batches))
    return {index, deed::batch};
  if (falls_in(mix.identities))
    return {index, deed::identity};
  if (falls_in(mix.accounts))
    return {index, deed::account};
  if (falls_in(mix.handles))
    return {index, deed::handle};
  return {index, deed::create};
}

bool traffic::act() {
  for (size_t i = 0; i < attempts_max; ++i) {
    const auto chosen = choose();
    const auto self = world_.at(chosen.index);
    if (self->status != standing::active)
      continue;
    perform(*self, chosen.what);
    return true;
  }
  return false;
}

void traffic::perform(world::account& x, deed what) {
  switch (what) {
    case deed::identity:
      ++identities_;
      return world_.announce_identity(x, true);
    case deed::handle:
      ++identities_;
      world_.rename(x, world_.fresh_handle(x));
      return world_.announce_identity(x, true);
    case deed::account:
      ++accounts_;
      return world_.announce_account(x, x.host, nullptr);
    default:
      return commit(x, make_changes(x, what));
  }
}

std::vector<change> traffic::make_changes(world::account& x, deed what) const {
  const auto limit = x.first_records + world_.options().mix.growth_max;
  if (what == deed::create && x.repo.tree().size() >= limit)
    what = deed::remove;
  std::vector<change> out;
  size_t wanted = 1;
  if (what == deed::batch)
    wanted = 2 + x.random->below(world_.options().mix.batch_ops_max - 1);
  std::unordered_set<std::string> paths;
  while (out.size() < wanted) {
    const auto dice = what == deed::batch ? x.random->below(100) : 0;
    const auto empty = x.repo.tree().size() <= out.size();
    change next;
    if (!empty && (what == deed::remove || dice >= 75))
      next = alter_change(x, true);
    else if (!empty && (what == deed::update || dice >= 60))
      next = alter_change(x, false);
    else
      next = world_.new_change(x);
    if (paths.insert(next.path).second)
      out.push_back(std::move(next));
  }
  return out;
}

change traffic::alter_change(world::account& x, bool remove) const {
  const auto& tree = x.repo.tree();
  const auto& path = tree.path_at(x.random->below(tree.size()));
  if (remove)
    return {atproto::op_action::remove, path, {}};
  const auto& old = tree.find(path)->block;
  auto block = old;
  // A commit needs a changed value. When nothing else can change, because there
  // is only one account or time stands still, the date changes.
  for (auto when = world_.now(); block == old;
       when = when + std::chrono::milliseconds{1})
    block = world_.maker().remake(*x.random, when, path);
  return {atproto::op_action::update, path, std::move(block)};
}

} // namespace weir::simnet
