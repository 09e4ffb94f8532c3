#include "actors/consumer/letter_desk.hpp"

#include "actors/consumer/limits.hpp"
#include "base/log.hpp"

#include <algorithm>

namespace weir::actors {

namespace {

void tell(const char* event, const std::string& consumer,
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

} // namespace

void letter_desk::add(letters_order x, answer to) {
  if (orders_.size() >= limits::dead_letters_orders_max) {
    to(weir::fail(ec::rate_limited, "other requests about dead letters wait"));
    return;
  }
  orders_.emplace_back(std::move(x), std::move(to));
}

const letters_order* letter_desk::begin() {
  if (at_ != stage::idle || orders_.empty())
    return nullptr;
  at_ = stage::reading;
  return &orders_.front().first;
}

std::vector<letter_wish> letter_desk::wishes(const letters_found& x) const {
  using fate = letter_wish::fate;
  std::vector<letter_wish> out;
  out.reserve(x.letters->size());
  for (const auto& each : *x.letters)
    out.push_back({each.id, each.entry,
                   !order().retry ? fate::drop
                   : each.current ? fate::deliver
                                  : fate::outdated});
  return out;
}

void letter_desk::decide(const std::string& consumer,
                         const wire::event_numbers& numbers,
                         const letters_found& x, letters_report&& done) {
  tell(order().retry ? "dead_letter_retried" : "dead_letter_dropped", consumer,
       numbers, x, done.done);
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

void letter_desk::fail(const error& why) {
  finish(why);
}

void letter_desk::on_write() noexcept {
  if (at_ == stage::decided)
    at_ = stage::writing;
}

void letter_desk::on_durable() {
  if (at_ == stage::writing)
    finish(std::move(report_));
}

void letter_desk::finish(const result<letters_report>& x) {
  const auto to = std::move(orders_.front().second);
  orders_.pop_front();
  at_ = stage::idle;
  to(x);
}

} // namespace weir::actors
