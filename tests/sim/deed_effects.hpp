#pragma once

#include "simnet/world.hpp"
#include "tests/sim/deeds.hpp"

/// What a deed means for what may be expected.
namespace weir::sim {

/// It happens to whoever is away, as few are.
bool ends_absence(simnet::fault_kind x) noexcept;

/// A stream that is away and has no position yet is asked from now on later.
bool parts_from_streams(deed_kind x) noexcept;

/// Streams are there and bring less than there is, and what they bring does not
/// show it.
bool hides_delays(const deed& x) noexcept;

/// The directory says of accounts that they are not, or live elsewhere.
bool denies(simnet::fault_kind x) noexcept;

/// Something is wrong with the directory or the way to it. Whom a stream names
/// meanwhile is left to the next listing.
bool is_of_directory(const deed& x) noexcept;

bool loses_events(simnet::fault_kind x) noexcept;

/// Streams tell what is not so, or their numbers do not only grow.
bool tells_lies(simnet::fault_kind x) noexcept;

/// The new numbers of a stream pass its old ones before anybody dials it again, so
/// that no stream tells that they began anew. No host: the relay's.
bool has_few_events(const simnet::world& truth,
                    const std::optional<size_t>& host);

} // namespace weir::sim
