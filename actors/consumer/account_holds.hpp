#pragma once

#include "actors/consumer/delivery_lanes.hpp"
#include "actors/consumer/limits.hpp"
#include "wire/tap.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

/// Whether a page of a DID contains everything that the DID has up to
/// `through`.
inline bool reaches(const did_page& page, storage::op_id through) noexcept {
  return page.end
         || (!page.entries->empty() && page.entries->back()->last() >= through);
}

/// The records that wait because their account is not active. Its facts
/// overtake them in a lane of their own, and the records follow when a fact
/// says that the account is active again.
///
/// What the consumer received before the process started is not in memory: the
/// last fact that it received may say that the account is inactive. So the log
/// is searched for that fact, once for each DID of which an earlier life of the
/// process passed a record that is still to be delivered.
class account_holds {
public:
  /// @param options Must outlive this, and so must the accounts.
  /// @param acked_through The last event that was acked in earlier lives of the
  /// process: later events were not sent then.
  account_holds(const delivery_options& options, const account_board& accounts,
                delivery_lanes& lanes, delivery_ledger& ledger,
                op_id acked_through) noexcept
    : options_(options), accounts_(accounts), lanes_(lanes), ledger_(ledger),
      acked_through_(acked_through) {}

  /// The account is not active: its records wait, its facts are sent.
  void hold(delivery_lane& x, steady_time now) {
    if (lanes_.may_park(x))
      lanes_.touch(set_aside(x), now);
    else
      give_up(x);
  }

  /// Searches the log for the last fact about the account that the consumer
  /// received, if an earlier life passed this record, perhaps because the
  /// account was inactive. Nothing is searched when there is no memory to set
  /// the DID aside, or while one of its records is in flight, because that one
  /// would be sent again.
  /// @param durable The last operation in the log.
  /// @returns whether the record has to wait for that.
  bool look_back(delivery_lane& x, op_id id, op_id durable, steady_time now) {
    if (x.looked || id > acked_through_ || x.is_in_flight()
        || !lanes_.may_park(x))
      return false;
    auto& facts = set_aside(x);
    facts.look_from = id;
    facts.look_through = durable;
    lanes_.touch(facts, now);
    return true;
  }

  /// Takes a page of the facts that are searched for. A fact without an ack may
  /// have reached the consumer all the same.
  void look(delivery_lane& x, const did_page& page, steady_time now) {
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
          x.says_inactive = !says->active;
      }
    if (reaches(page, x.look_through))
      x.look_from = x.look_through + 1;
    if (!x.looks())
      end_look(x, now);
    else if (x.look_from == before)
      x.retry_at = now + limits::empty_page_delay;
  }

  /// An ack arrived for an event that an earlier life sent.
  void note_acked(op_id id) noexcept {
    acked_through_ = std::max(acked_through_, id);
  }

  /// Called at intervals: finds DIDs that wait although their account was
  /// erased, or is active again without a fact that is still to be sent.
  /// @param at_end The whole log was read.
  void sweep(bool at_end, steady_time now) {
    if (!lanes_.has_held() || now < sweep_at_)
      return;
    sweep_at_ = now + limits::held_check_interval;
    lanes_.for_each_held([&](delivery_lane& x) {
      const auto standing = accounts_.of(x.repo);
      // The board may be ahead of the log that was read: check again later.
      const auto back = standing.active && at_end;
      if (standing.erased_through >= x.through
          || (std::exchange(x.seen_active, back) && back))
        lanes_.release(x, now);
    });
  }

  void sweep_soon(steady_time now) noexcept { sweep_at_ = now; }

  std::optional<steady_time> due(steady_time now) const noexcept {
    if (!lanes_.has_held())
      return std::nullopt;
    return std::max(sweep_at_, now);
  }

private:
  static constexpr const char* account_inactive
    = "the account is not active, and more of them wait than can be remembered";

  /// Parks the queue, to be read again. Returns the lane of facts, which go
  /// first.
  delivery_lane& set_aside(delivery_lane& x) {
    lanes_.hold(x);
    auto& facts = lanes_.make(x.repo, true);
    facts.read_from = x.read_from;
    facts.through = x.through;
    return facts;
  }

  /// There is no memory to wait for the account: its records become dead
  /// letters.
  void give_up(delivery_lane& x) {
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

  /// If the last fact that the consumer received says "inactive", the records
  /// wait until a fact says "active". Otherwise all follow in the order of the
  /// log.
  void end_look(delivery_lane& x, steady_time now) {
    if (x.says_inactive)
      return;
    auto* records = lanes_.find(x.repo, false);
    records->through = std::max(records->through, x.through);
    x.read_from = 1;
    x.through = 0;
    lanes_.release(*records, now);
  }

  const delivery_options& options_;
  const account_board& accounts_;
  delivery_lanes& lanes_;
  delivery_ledger& ledger_;
  op_id acked_through_;
  steady_time sweep_at_;
};

} // namespace weir::actors
