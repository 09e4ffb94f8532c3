#pragma once

#include "simnet/world.hpp"
#include "tests/sim/deeds.hpp"

/// What a deed changes in the expected result.
namespace weir::sim {

/// The fault needs an inactive account. Few are, so the network chooses one.
bool ends_absence(simnet::fault_kind x) noexcept;

/// The deed may disconnect streams. One that has no position yet loses the
/// events that come before it connects again.
bool parts_from_streams(deed_kind x) noexcept;

/// Streams are connected and bring less than there is, and their events do not
/// show it.
bool hides_delays(const deed& x) noexcept;

/// The directory answers that accounts do not exist or live elsewhere.
bool denies(simnet::fault_kind x) noexcept;

/// Something is wrong with the directory or the way to it. An account that a
/// stream names during that time waits for the next listing.
bool is_of_directory(const deed& x) noexcept;

bool loses_events(simnet::fault_kind x) noexcept;

/// Streams tell something untrue, or their seqs do not only grow.
bool tells_lies(simnet::fault_kind x) noexcept;

/// The new seqs of a stream pass its old ones before the node connects again,
/// so that no stream shows that they began anew. @param host None: the relay.
bool has_few_events(const simnet::world& truth,
                    const std::optional<size_t>& host);

} // namespace weir::sim
