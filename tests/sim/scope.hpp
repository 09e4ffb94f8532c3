#pragma once

#include "simnet/truth.hpp"
#include "tests/sim/comparison.hpp"
#include "tests/sim/settings.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace weir::sim {

class scene;

/// What of its network a node tracks and keeps (SYNC-17 to SYNC-21). Runs that are
/// about nothing in particular may track by hand or by signal, and keep some
/// collections only, others in each life of the node.
void draw_scope(run_settings& out);

/// Counts it, as deeds are counted.
/// @param not_tracked Accounts that a node in signal mode left alone.
void count_scope(const run_settings& x, size_t not_tracked,
                 std::map<std::string, uint64_t>& counts);
std::set<std::string> counted_scopes();

/// The network as a node that keeps these collections has to have it.
/// @param patterns Empty: it keeps all.
void leave_what_is_kept(std::vector<simnet::expected_account>& truth,
                        const std::vector<std::string>& patterns);

/// In signal mode: without accounts that the node does not track and need not,
/// since they have no record of the collection (any more), or are away.
/// @returns how many were left out.
size_t leave_who_is_tracked(std::vector<simnet::expected_account>& truth,
                            const node_repos& node, scene& x);

/// In manual mode somebody adds whoever the node does not track.
/// @returns whether the node did it.
bool add_by_hand(scene& x);

} // namespace weir::sim
