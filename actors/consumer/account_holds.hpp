#pragma once

#include "actors/consumer/delivery_lanes.hpp"

namespace weir::actors {

/// Whether a page of a DID contains everything that the DID has up to
/// `through`.
inline bool reaches(const did_page& page, storage::op_id through) noexcept {
  return page.end
         || (!page.entries->empty() && page.entries->back()->last() >= through);
}

/// When a page of a DID brought nothing, it is requested again after this time.
inline constexpr std::chrono::seconds empty_page_delay{1};

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
  using op_id = storage::op_id;

  /// @param options Must outlive this, and so must the accounts.
  /// @param told_through The last event that was acked in earlier lives of the
  /// process: later events were not sent then.
  account_holds(const delivery_options& options, const account_board& accounts,
                delivery_lanes& lanes, delivery_ledger& ledger,
                op_id told_through) noexcept
    : options_(options), accounts_(accounts), lanes_(lanes), ledger_(ledger),
      told_through_(told_through) {}

  /// The account is not active: its records wait, its facts are sent.
  void hold(delivery_lane& x, steady_time now);

  /// Searches the log for the last fact about the account that the consumer
  /// received, if an earlier life passed this record, perhaps because the
  /// account was inactive. Nothing is searched when there is no memory to set
  /// the DID aside, or while one of its records is in flight, because that one
  /// would be sent again.
  /// @param durable The last operation in the log.
  /// @param durable The last operation that is in the log.
  /// @returns whether the record has to wait for that.
  bool look_back(delivery_lane& x, op_id id, op_id durable, steady_time now);

  /// Takes a page of the facts that are searched for. A fact without an ack may
  /// have reached the consumer all the same.
  void look(delivery_lane& x, const did_page& page, steady_time now);

  /// An ack arrived for an event that an earlier life sent.
  void note_told(op_id id) noexcept {
    told_through_ = std::max(told_through_, id);
  }

  /// Called at intervals: finds DIDs that wait although their account was
  /// erased, or is active again without a fact that is still to be sent.
  /// @param at_end The whole log was read.
  void sweep(bool at_end, steady_time now);

  void sweep_soon(steady_time now) noexcept { sweep_at_ = now; }

  std::optional<steady_time> due(steady_time now) const noexcept {
    if (!lanes_.has_held())
      return std::nullopt;
    return std::max(sweep_at_, now);
  }

private:
  delivery_lane& set_aside(delivery_lane& x);
  void give_up(delivery_lane& x);
  void end_look(delivery_lane& x, steady_time now);

  const delivery_options& options_;
  const account_board& accounts_;
  delivery_lanes& lanes_;
  delivery_ledger& ledger_;
  op_id told_through_;
  steady_time sweep_at_;
};

} // namespace weir::actors
