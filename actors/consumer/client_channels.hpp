#pragma once

#include "actors/consumer/consumer_lines.hpp"
#include "actors/consumer/delivery_types.hpp"
#include "actors/support/ack_inbox.hpp"
#include "actors/support/event_channel.hpp"
#include "wire/event_numbers.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::actors {

/// The connections of one application's clients: events go out to them, and
/// their acks come in as operations of the log. Owned by one CONSUMER.
class client_channels {
public:
  /// @param consumer Names the application in the node's log.
  /// @param numbers Must outlive this.
  client_channels(std::string consumer, const wire::event_numbers& numbers)
    : consumer_(std::move(consumer)), numbers_(numbers) {}

  void open(const channel_opened& x) { all_[x.session] = {x.channel, x.acks}; }

  void close(session_id x) { all_.erase(x); }

  void cut_all() {
    for (auto& [id, x] : all_)
      x.channel->cut();
    all_.clear();
  }

  /// Hands the events to their sockets; a full socket takes the rest of its
  /// share later.
  /// @param encode Makes the text of one event.
  template <class Encode>
  std::vector<sent_report>
  send(const std::vector<delivery_effects::send>& sends, Encode encode) {
    std::map<session_id, std::pair<size_t, bool>> taken;
    for (const auto& x : sends) {
      auto& [count, full] = taken[x.to];
      const auto i = all_.find(x.to);
      full = full || i == all_.end() || !i->second.channel->send(encode(x));
      count += full ? 0 : 1;
    }
    std::vector<sent_report> out;
    for (const auto& [session, result] : taken)
      out.push_back({session, result.first});
    return out;
  }

  struct acked {
    session_id from = 0;
    std::vector<op_id> ids;
  };

  /// The acks that connections have sent since the last call.
  /// @param none_needed No event waits for an ack. While acks come often, the
  /// next ones then wait until the caller looks again (`look_at`); the first
  /// one after a pause comes at once.
  /// @param durable The last operation of the log.
  std::vector<acked>
  take_acks(bool none_needed, op_id durable, steady_time now) {
    const auto more_may_wait = none_needed && now < often_until_;
    std::vector<acked> out;
    for (const auto& [id, x] : all_) {
      const auto acks = x.acks->take(more_may_wait);
      if (acks.dropped > 0)
        refuse("more acks at once than fit", now);
      if (!acks.events.empty())
        out.push_back({id, given_out(acks.events, durable, now)});
    }
    if (!out.empty())
      often_until_ = now + limits::acks_wait;
    look_at_.reset();
    if (more_may_wait)
      look_at_ = now + limits::acks_wait;
    return out;
  }

  /// @returns when to call `take_acks` again; none: an ack wakes the CONSUMER.
  std::optional<steady_time> look_at() const noexcept { return look_at_; }

  /// A client sent a message that is no ack.
  void refuse(const std::string& reason, steady_time now) {
    useless_.note_bad(consumer_, reason, now);
  }

  const useless_acks& useless() const noexcept { return useless_; }

private:
  struct connection {
    std::shared_ptr<event_channel> channel;
    std::shared_ptr<ack_inbox> acks;
  };

  /// The operations of those events that this log gave out.
  std::vector<op_id> given_out(const std::vector<uint64_t>& events,
                               op_id durable, steady_time now) {
    std::vector<op_id> out;
    for (const auto x : events) {
      if (const auto op = numbers_.op_of(x); op && *op <= durable)
        out.push_back(*op);
      else
        useless_.note_foreign(
          consumer_, x, durable == 0 ? 0 : numbers_.id_of(durable).value(),
          now);
    }
    return out;
  }

  const std::string consumer_;
  const wire::event_numbers& numbers_;
  std::map<session_id, connection> all_;
  steady_time often_until_; ///< Acks came shortly before this.
  std::optional<steady_time> look_at_;
  useless_acks useless_;
};

} // namespace weir::actors
