#pragma once

#include "actors/consumer/delivery_types.hpp"
#include "messages/consumer.hpp"
#include "wire/event_numbers.hpp"

#include <deque>

namespace weir::actors {

/// Orders about dead letters: one at a time, so that each finds durably done
/// what was decided before it, and answered when that is so. Without CAF; one
/// thread.
///
/// # Limits
/// `limits::dead_letters_orders_max` wait; one more is refused with
/// `ec::rate_limited`.
class letter_desk {
public:
  void add(letters_order x);

  /// The order to be looked for now, once; null: there is none, or another one
  /// is under way.
  const letters_order* begin();

  /// @pre one is under way
  const letters_order& order() const noexcept { return orders_.front(); }

  /// What it wants of the letters that were found.
  std::vector<letter_wish> wishes(const letters_found& x) const;

  /// What became of them, which the log of the node tells. It is answered when
  /// a write that follows is durable, or at once when there is nothing to
  /// write.
  void decide(const std::string& consumer, const wire::event_numbers& numbers,
              const letters_found& x, letters_settled&& done);

  void fail(const error& why);

  /// A write with what was decided begins.
  void on_write() noexcept;

  /// The write that began last is durable.
  void on_durable();

private:
  enum class stage : uint8_t { idle, reading, decided, writing };

  void finish(const result<letters_report>& x);

  std::deque<letters_order> orders_; ///< The first one is under way, or next.
  stage at_ = stage::idle;
  letters_report report_; ///< Of the first one, once decided.
};

} // namespace weir::actors
