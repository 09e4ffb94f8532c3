#include "wire/position.hpp"

#include "atproto/limits.hpp"

namespace weir::wire {

namespace {

constexpr auto event_max = static_cast<uint64_t>(limits::safe_integer_max);

} // namespace

result<uint64_t> event_id(event_place place, uint16_t partitions) {
  const auto rest = static_cast<uint64_t>(place.partition) + 1;
  if (place.op - 1 > (event_max - rest) / partitions)
    return fail(ec::limit_reached, "the log has outgrown the numbers that "
                                   "JSON can carry");
  return (place.op - 1) * partitions + rest;
}

std::optional<event_place> place_of(uint64_t event, uint16_t partitions) {
  if (event == 0 || event > event_max)
    return std::nullopt;
  return event_place{static_cast<uint16_t>((event - 1) % partitions),
                     (event - 1) / partitions + 1};
}

} // namespace weir::wire
