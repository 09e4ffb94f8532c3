#pragma once

#include "actors/consumer/delivery_types.hpp"
#include "messages/consumer.hpp"
#include "wire/event_numbers.hpp"

#include <deque>
#include <functional>

namespace weir::actors {

/// Orders about dead letters. They are handled one at a time, so that each one
/// sees the durable result of those before it, and is answered when its own
/// result is durable. Without CAF; one thread.
///
/// # Limits
/// `limits::dead_letters_orders_max` orders wait; one more is refused with
/// `ec::rate_limited`.
class letter_desk {
public:
  /// Called once.
  using answer = std::function<void(const result<letters_report>&)>;

  void add(letters_order x, answer to);

  /// The order whose letters must be looked up now, returned once; null when
  /// there is none, or another one is under way.
  const letters_order* begin();

  /// @pre an order is under way
  const letters_order& order() const noexcept {
    return orders_.front().first;
  }

  /// What the order wants of the letters that were found.
  std::vector<letter_wish> wishes(const letters_found& x) const;

  /// Takes the results for `x` and logs them. The order is answered when a
  /// write that follows is durable, or at once when there is nothing to write.
  void decide(const std::string& consumer, const wire::event_numbers& numbers,
              const letters_found& x, letters_report&& done);

  void fail(const error& why);

  /// A write that contains the decision begins.
  void on_write() noexcept;

  /// The write that began last is durable.
  void on_durable();

private:
  enum class stage : uint8_t { idle, reading, decided, writing };

  void finish(const result<letters_report>& x);

  /// The first one is under way, or next.
  std::deque<std::pair<letters_order, answer>> orders_;
  stage at_ = stage::idle;
  letters_report report_; ///< Of the first order, once decided.
};

} // namespace weir::actors
