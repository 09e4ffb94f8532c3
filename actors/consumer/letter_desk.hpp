#pragma once

#include "actors/consumer/delivery_types.hpp"
#include "actors/consumer/limits.hpp"
#include "base/log.hpp"
#include "messages/consumer.hpp"
#include "wire/event_numbers.hpp"

#include <algorithm>
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

  void add(letters_order x, answer to) {
    if (orders_.size() >= limits::dead_letters_orders_max)
      return to(
        weir::fail(ec::rate_limited, "other requests about dead letters wait"));
    orders_.emplace_back(std::move(x), std::move(to));
  }

  /// The order whose letters must be looked up now, returned once; null when
  /// there is none, or another one is under way.
  const letters_order* begin() {
    if (at_ != stage::idle || orders_.empty())
      return nullptr;
    at_ = stage::reading;
    return &orders_.front().first;
  }

  /// @pre an order is under way
  const letters_order& order() const noexcept { return orders_.front().first; }

  /// What the order wants of the letters that were found.
  std::vector<letter_wish> wishes(const letters_found& x) const {
    using fate = letter_wish::fate;
    std::vector<letter_wish> out;
    if (!x.letters)
      return out;
    for (const auto& each : *x.letters)
      out.push_back({each.id, each.entry,
                     !order().retry ? fate::drop
                     : each.current ? fate::deliver
                                    : fate::outdated});
    return out;
  }

  /// Takes the results for `x` and logs them. The order is answered when a
  /// write that follows is durable, or at once when there is nothing to write.
  void decide(const std::string& consumer, const wire::event_numbers& numbers,
              const letters_found& x, letters_report&& done) {
    tell(order().retry ? "dead_letter_retried" : "dead_letter_dropped",
         consumer, numbers, x, done.done);
    tell("dead_letter_outdated", consumer, numbers, x, done.outdated);
    report_ = std::move(done);
    report_.unknown.insert(report_.unknown.begin(), x.unknown.begin(),
                           x.unknown.end());
    report_.next = x.next;
    if (report_.done.empty() && report_.outdated.empty())
      finish(std::move(report_));
    else
      at_ = stage::decided;
  }

  void fail(const error& why) { finish(why); }

  /// A write that contains the decision begins.
  void on_write() noexcept {
    if (at_ == stage::decided)
      at_ = stage::writing;
  }

  /// The write that began last is durable.
  void on_durable() {
    if (at_ == stage::writing)
      finish(std::move(report_));
  }

private:
  static void tell(const char* event, const std::string& consumer,
                   const wire::event_numbers& numbers, const letters_found& x,
                   const std::vector<storage::op_id>& ids) {
    const auto& all = *x.letters;
    for (const auto id : ids) {
      const auto letter = std::ranges::find(all, id, &found_letter::id);
      const auto known = letter != all.end() && letter->entry != nullptr;
      log::info(event, {{"consumer", consumer},
                        {"id", numbers.id_of(id).value()},
                        {"did", known ? letter->entry->repo.str() : ""}});
    }
  }

  enum class stage : uint8_t { idle, reading, decided, writing };

  void finish(const result<letters_report>& x) {
    const auto to = std::move(orders_.front().second);
    orders_.pop_front();
    at_ = stage::idle;
    to(x);
  }

  /// The first one is under way, or next.
  std::deque<std::pair<letters_order, answer>> orders_;
  stage at_ = stage::idle;
  letters_report report_; ///< The answer to the first order, once decided.
};

} // namespace weir::actors
