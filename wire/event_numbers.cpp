#include "wire/event_numbers.hpp"

#include "atproto/base_encodings.hpp"
#include "wire/position.hpp"

#include <algorithm>
#include <array>

namespace weir::wire {

event_numbers::event_numbers(std::vector<id_epoch> begun) {
  epochs_.insert(epochs_.end(), begun.begin(), begun.end());
}

result<uint64_t> event_numbers::id_of(uint64_t op) const {
  const auto next = std::upper_bound(
    epochs_.begin() + 1, epochs_.end(), op,
    [](uint64_t x, const id_epoch& y) { return x < y.first; });
  const auto id = event_id({0, op}, 1);
  if (!id)
    return id.error();
  return event_id({0, *id + std::prev(next)->ahead}, 1);
}

std::optional<uint64_t> event_numbers::op_of(uint64_t id) const {
  if (!place_of(id, 1))
    return std::nullopt;
  const auto next = std::upper_bound(
    epochs_.begin() + 1, epochs_.end(), id,
    [](uint64_t x, const id_epoch& y) { return x < y.first + y.ahead; });
  const auto op = id - std::prev(next)->ahead;
  if (next != epochs_.end() && op >= next->first)
    return std::nullopt; // The id lies between two epochs.
  return op;
}

uint64_t event_numbers::epoch() const {
  return epochs_.back().first + epochs_.back().ahead;
}

std::string event_numbers::name_of(uint64_t log_identity) const {
  std::array<uint8_t, 8> identity{};
  for (size_t i = identity.size(); i-- > 0; log_identity >>= 8)
    identity[i] = static_cast<uint8_t>(log_identity);
  return atproto::encode_hex(identity) + '.' + std::to_string(epoch());
}

} // namespace weir::wire
