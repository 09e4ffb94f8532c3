#pragma once

#include "actors/consumer/delivery_lanes.hpp"

namespace weir::actors {

/// Whether a page of a DID has all that its DID has up to `through`.
inline bool reaches(const did_entries& page, storage::op_id through) noexcept {
  return page.end
         || (!page.entries.empty() && page.entries.back()->last() >= through);
}

/// A DID's page that brought nothing is asked for again after this.
inline constexpr std::chrono::seconds empty_page_delay{1};

/// The records that wait because their account is not active. Its facts
/// overtake them, in a lane of their own; they follow when a fact says that the
/// account is back.
///
/// What the consumer was sent before the process started is not in memory: the
/// last fact that it has of an account may say that this is away. So the log is
/// searched for that fact, once for each DID of which an earlier life of the
/// process went past a record that is still to be delivered.
class account_holds {
public:
  using op_id = storage::op_id;

  /// @param options Outlive this; so does the gate.
  /// @param told_through The last event that was acked in earlier lives of the
  /// process: events behind it were not sent then.
  account_holds(const delivery_options& options, const account_gate& gate,
                delivery_lanes& lanes, delivery_ledger& ledger,
                op_id told_through) noexcept
    : options_(options), gate_(gate), lanes_(lanes), ledger_(ledger),
      told_through_(told_through) {
    // nop
  }

  /// The account is not active: its records wait, its facts get through.
  void hold(delivery_lane& x, steady_time now);

  /// Searches the log for the last fact that the consumer has of the account,
  /// if an earlier life went past this record: perhaps it was not sent because
  /// the account was away. Nobody searches without memory to set the DID aside,
  /// nor while one of its records is in flight, which would be sent again.
  /// @param durable The last operation that is in the log.
  /// @returns whether the record has to wait for that.
  bool look_back(delivery_lane& x, op_id id, op_id durable, steady_time now);

  /// A page of facts that were searched for. A fact that was not acked may have
  /// reached the consumer all the same.
  void look(delivery_lane& x, const did_entries& page, steady_time now);

  /// An ack came for an event that an earlier life sent.
  void note_told(op_id id) noexcept {
    told_through_ = std::max(told_through_, id);
  }

  /// Now and then: finds DIDs that wait although their account was erased, or
  /// came back without a fact that is still to be sent.
  /// @param at_end All of the log was read.
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
  const account_gate& gate_;
  delivery_lanes& lanes_;
  delivery_ledger& ledger_;
  op_id told_through_;
  steady_time sweep_at_;
};

} // namespace weir::actors
