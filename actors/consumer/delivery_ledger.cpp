#include "actors/consumer/delivery_ledger.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

delivery_ledger::delivery_ledger(const delivery_options& options,
                                 const delivery_state& state)
  : options_(options), acked_(state.position, state.acked),
    log_events_(state.log_events), settled_(state.settled),
    dead_letters_(state.dead_letters) {}

bool delivery_ledger::close(op_id id) {
  if (!acked_.add(id))
    return false;
  ++settled_;
  return true;
}

void delivery_ledger::skip(op_id id, bool is_event) {
  ++counters_.implicit;
  settled_ += is_event ? 1 : 0;
  acked_.add(id);
}

void delivery_ledger::skip_absent(op_id first, op_id last) {
  counters_.absent += last - first + 1;
  acked_.add_range(first, last);
}

void delivery_ledger::reopen(op_id id) {
  acked_.remove(id);
  --settled_;
}

void delivery_ledger::recount(const storage::log_entry& entry, op_id next) {
  const auto is_event = [](const storage::logged_operation& op) {
    return storage::is_event_scope(op.scope);
  };
  if (acked_.last() >= next)
    return;
  const auto events
    = entry.events_before
      + static_cast<uint64_t>(std::ranges::count_if(entry.ops, is_event));
  const auto open = open_before(next);
  settled_ = events > open ? events - open : 0;
}

void delivery_ledger::bury(dead_letter x) {
  ++counters_.dead;
  ++dead_letters_;
  close(x.id);
  letters_.push_back(std::move(x));
  urgent_ = true;
}

void delivery_ledger::forget(op_id letter) {
  letters_gone_.push_back(letter);
  --dead_letters_;
  urgent_ = true;
}

void delivery_ledger::save(steady_time now, delivery_effects& out) {
  if (in_flight_ || (!acked_.changed() && letters_gone_.empty()))
    return;
  if (!save_by_)
    save_by_ = now + options_.lazy_write;
  if (!urgent_ && now < *save_by_)
    return;
  auto rows = acked_.take_delta();
  out.rows.emplace(delivery_effects::write{
    rows.position, std::move(rows.erase), std::move(rows.put),
    std::exchange(letters_gone_, {}), std::exchange(letters_, {}), settled_,
    dead_letters_});
  urgent_ = false;
  save_by_.reset();
  in_flight_ = true;
}

} // namespace weir::actors
