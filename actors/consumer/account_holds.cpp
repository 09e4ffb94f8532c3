#include "actors/consumer/account_holds.hpp"

#include "wire/tap.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

namespace {

/// Interval at which waiting DIDs are checked without a reason.
constexpr std::chrono::seconds sweep_interval{30};

constexpr const char* account_inactive
  = "the account is not active, and more of them wait than can be remembered";

} // namespace

void account_holds::hold(delivery_lane& x, steady_time now) {
  ++ledger_.counters().withheld;
  if (lanes_.may_park(x))
    lanes_.touch(set_aside(x), now);
  else
    give_up(x);
}

/// Parks the queue, to be read again. Returns the lane of facts, which go
/// first.
delivery_lane& account_holds::set_aside(delivery_lane& x) {
  lanes_.hold(x);
  auto& facts = lanes_.make(x.repo, true);
  facts.read_from = x.read_from;
  facts.through = x.through;
  return facts;
}

/// There is no memory to wait for the account: its records become dead letters.
void account_holds::give_up(delivery_lane& x) {
  std::vector<dead_letter> records;
  for (const auto& event : x.queue)
    if (event.at != delivery_lane::stage::settled
        && kind_of(event.op(), options_.filter) == delivery_kind::record)
      records.push_back(
        letter_of(x.repo, event.id, event.op(), 0, account_inactive));
  for (auto& each : records) {
    const auto id = each.id;
    ledger_.bury(std::move(each));
    lanes_.settle(x, *x.find(id));
  }
}

bool account_holds::look_back(delivery_lane& x, op_id id, op_id durable,
                              steady_time now) {
  if (x.looked || id > told_through_ || x.is_in_flight() || !lanes_.may_park(x))
    return false;
  auto& facts = set_aside(x);
  facts.look_from = id;
  facts.look_through = durable;
  lanes_.touch(facts, now);
  return true;
}

void account_holds::look(delivery_lane& x, const did_page& page,
                         steady_time now) {
  const auto before = x.look_from;
  for (const auto& entry : *page.entries)
    for (auto id = std::max(x.look_from, entry->first);
         id <= std::min(entry->last(), x.look_through); ++id) {
      const auto& op = entry->ops[id - entry->first];
      x.look_from = id + 1;
      if (kind_of(op, options_.filter) != delivery_kind::fact)
        continue;
      const auto says = wire::parse_account_fact(op.body.view());
      if (says && (!says->active || ledger_.contains(id)))
        x.told_away = !says->active;
    }
  if (reaches(page, x.look_through))
    x.look_from = x.look_through + 1;
  if (!x.looks())
    end_look(x, now);
  else if (x.look_from == before)
    x.retry_at = now + empty_page_delay;
}

/// If the last fact that the consumer received says "inactive", the records
/// wait until a fact says "active". Otherwise all follow in the order of the
/// log.
void account_holds::end_look(delivery_lane& x, steady_time now) {
  if (x.told_away)
    return;
  auto* records = lanes_.find(x.repo, false);
  records->through = std::max(records->through, x.through);
  x.read_from = 1;
  x.through = 0;
  lanes_.release(*records, now);
}

void account_holds::sweep(bool at_end, steady_time now) {
  if (!lanes_.has_held() || now < sweep_at_)
    return;
  sweep_at_ = now + sweep_interval;
  lanes_.for_each_held([&](delivery_lane& x) {
    const auto standing = accounts_.of(x.repo);
    // The board may be ahead of the log that was read: check again later.
    const auto back = standing.active && at_end;
    if (standing.erased_through >= x.through
        || (std::exchange(x.seen_active, back) && back))
      lanes_.release(x, now);
  });
}

} // namespace weir::actors
