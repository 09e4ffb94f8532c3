#include "actors/consumer/delivery_machine.hpp"

namespace weir::actors {

void delivery_machine::watch(std::vector<atproto::did> repos) {
  for (auto& x : repos)
    watched_.insert(std::move(x));
}

bool delivery_machine::is_watched(const delivery_lane& x) const {
  return !watched_.empty() && watched_.contains(x.repo);
}

void delivery_machine::unwatch(steady_time now) {
  for (const auto& repo : std::exchange(watched_, {}))
    for (auto* lanes : {&facts_, &records_})
      if (auto* x = find(*lanes, repo))
        touch(*x, now);
}

delivery_effects
delivery_machine::on_letters(std::span<const letter_wish> wishes,
                             steady_time now, letters_settled& result) {
  using fate = letter_wish::fate;
  effects out;
  for (const auto& x : wishes) {
    // A dead letter is settled; one that is not is on its way already.
    if (!acked_.contains(x.id)) {
      result.unknown.push_back(x.id);
    } else if (x.what == fate::drop) {
      forget(x.id);
      result.done.push_back(x.id);
    } else if (x.what == fate::outdated || x.entry == nullptr || is_over(x)) {
      forget(x.id);
      result.outdated.push_back(x.id);
    } else if (reopen(x, now)) {
      forget(x.id);
      result.done.push_back(x.id);
    } else {
      result.left.push_back(x.id);
    }
  }
  unwatch(now);
  pump(now, out);
  return out;
}

/// Nothing of it may be told any more.
bool delivery_machine::is_over(const letter_wish& x) const {
  const auto& op = x.entry->ops[x.id - x.entry->first];
  const auto what = kind_of(op);
  return what == kind::implicit
         || x.id <= gate_.standing(x.entry->repo).erased_through
         || (what == kind::record && x.entry->erased);
}

/// The event is unsettled, and read again for its DID alone. One that this life
/// has not come to yet is read with the log.
/// @returns false when there is no room to remember it.
bool delivery_machine::reopen(const letter_wish& x, steady_time now) {
  if (acked_.ranges() >= options_.ranges_max / 2)
    return false;
  if (x.id >= std::max(next_, again_until_)) {
    acked_.remove(x.id);
    --settled_;
    return true;
  }
  const auto& repo = x.entry->repo;
  const auto fact = kind_of(x.entry->ops[x.id - x.entry->first]) == kind::fact;
  const auto* records = find(records_, repo);
  auto& lane = make(repo, fact && records != nullptr && records->held);
  if (!may_park(lane)) {
    touch(lane, now);
    return false;
  }
  acked_.remove(x.id);
  --settled_;
  const auto first = lane.first_waiting() == 0 || x.id < lane.first_waiting();
  if (!lane.queue.empty())
    park(lane);
  lane.reopen(x.id);
  if (first) {
    lane.attempts = 0;
    wake(lane);
  }
  touch(lane, now);
  return true;
}

/// Its row goes with the next write.
void delivery_machine::forget(op_id letter) {
  letters_gone_.push_back(letter);
  --dead_letters_;
  urgent_ = true;
}

} // namespace weir::actors
