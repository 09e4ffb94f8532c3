#include "wire/event_numbers.hpp"

#include "atproto/base_encodings.hpp"
#include "atproto/limits.hpp"
#include "wire/position.hpp"

#include <algorithm>
#include <array>

namespace weir::wire {

event_numbers::event_numbers(std::vector<id_epoch> begun, uint16_t partition,
                             uint16_t partitions)
  : partition_(partition), partitions_(partitions) {
  epochs_.insert(epochs_.end(), begun.begin(), begun.end());
}

result<uint64_t> event_numbers::id_of(uint64_t op) const {
  const auto next = std::upper_bound(epochs_.begin() + 1, epochs_.end(), op,
                                     [](uint64_t x, const id_epoch& y) {
                                       return x < y.first;
                                     });
  const auto id = event_id({0, op}, 1);
  if (!id)
    return id.error();
  return event_id({partition_, *id + std::prev(next)->ahead}, partitions_);
}

std::optional<uint64_t> event_numbers::op_of(uint64_t id) const {
  const auto place = place_of(id, partitions_);
  if (!place || place->partition != partition_)
    return std::nullopt;
  const auto next = after_number(place->op);
  const auto op = place->op - std::prev(next)->ahead;
  if (next != epochs_.end() && op >= next->first)
    return std::nullopt; // The id lies between two epochs.
  return op;
}

uint64_t event_numbers::last_op_until(uint64_t id) const noexcept {
  const auto last
    = std::min(id, static_cast<uint64_t>(limits::safe_integer_max));
  const auto number = (last + partitions_ - 1 - partition_) / partitions_;
  const auto next = after_number(number);
  const auto op = number - std::prev(next)->ahead;
  return next == epochs_.end() ? op : std::min(op, next->first - 1);
}

event_numbers::epoch_ref
event_numbers::after_number(uint64_t number) const noexcept {
  return std::upper_bound(epochs_.begin() + 1, epochs_.end(), number,
                          [](uint64_t x, const id_epoch& y) {
                            return x < y.first + y.ahead;
                          });
}

uint64_t event_numbers::epoch() const {
  return (epochs_.back().first + epochs_.back().ahead - 1) * partitions_
         + partition_ + 1;
}

std::string event_numbers::name_of(uint64_t log_identity) const {
  std::array<uint8_t, 8> identity{};
  for (size_t i = identity.size(); i-- > 0; log_identity >>= 8)
    identity[i] = static_cast<uint8_t>(log_identity);
  return atproto::encode_hex(identity) + '.' + std::to_string(epoch());
}

} // namespace weir::wire
