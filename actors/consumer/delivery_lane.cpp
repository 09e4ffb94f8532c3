#include "actors/consumer/delivery_lane.hpp"

#include <algorithm>

namespace weir::actors {

using storage::op_id;

delivery_kind kind_of(const storage::logged_operation& op,
                      const wire::collection_filter& filter) noexcept {
  if (op.scope == storage::identity_scope || op.scope == storage::account_scope)
    return delivery_kind::fact;
  return !op.scope.starts_with('$') && filter.matches(op.scope)
           ? delivery_kind::record
           : delivery_kind::implicit;
}

void delivery_lane::pass(op_id id) noexcept {
  if (!behind())
    read_from = id;
  through = id;
}

void delivery_lane::reopen(op_id id) noexcept {
  const auto more = behind();
  through = more ? std::max(through, id) : id;
  read_from = more ? std::min(read_from, id) : id;
}

op_id delivery_lane::first_waiting() const noexcept {
  if (held)
    return 0;
  if (!behind())
    return queue.empty() ? 0 : queue.front().id;
  return queue.empty() ? read_from : std::min(read_from, queue.front().id);
}

delivery_lane::event* delivery_lane::find(op_id id) noexcept {
  const auto i = std::lower_bound(queue.begin(), queue.end(), id,
                                  [](const event& x, op_id y) {
                                    return x.id < y;
                                  });
  return i != queue.end() && i->id == id ? &*i : nullptr;
}

delivery_lane::event* delivery_lane::next_to_send() noexcept {
  while (next < queue.size() && queue[next].at != stage::waiting)
    ++next;
  if (next == queue.size())
    return nullptr;
  auto& x = queue[next];
  const auto& first = queue.front();
  if (next > 0 && (x.barrier || first.barrier || x.job != first.job))
    return nullptr; // Another fetch may contain the same record again.
  return &x;
}

bool delivery_lane::is_in_flight() const noexcept {
  return std::ranges::any_of(queue, [](const event& x) {
    return x.session != nullptr;
  });
}

void delivery_lane::take_back(event& x) noexcept {
  x.session->flights.erase(x.flight);
  x.session = nullptr;
  x.at = stage::waiting;
  const auto i = std::lower_bound(queue.begin(), queue.end(), x.id,
                                  [](const event& a, op_id b) {
                                    return a.id < b;
                                  });
  next = std::min(next, static_cast<size_t>(i - queue.begin()));
}

void delivery_lane::note_fact(op_id id, bool active) noexcept {
  if (id < said_by)
    return;
  said_by = id;
  says_active = active;
}

void delivery_lane::pop_settled() noexcept {
  while (!queue.empty() && queue.front().at == stage::settled) {
    queue.pop_front();
    next -= next > 0;
  }
}

} // namespace weir::actors
