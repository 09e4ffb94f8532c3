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

/// Draws which part of its network a node tracks and keeps (SYNC-17 to
/// SYNC-21). Runs without a plot or theme may track by hand or by signal, and
/// keep only some collections, different ones in each life of the node.
void draw_scope(run_settings& out);

/// Counts these settings in the way deeds are counted.
/// @param not_tracked Number of accounts that a node in signal mode does not
/// track.
void count_scope(const run_settings& x, size_t not_tracked,
                 std::map<std::string, uint64_t>& counts);
std::set<std::string> counted_scopes();

/// Reduces the truth to what a node that keeps these collections must have.
/// @param patterns Empty: it keeps all.
void leave_what_is_kept(std::vector<simnet::expected_account>& truth,
                        const std::vector<std::string>& patterns);

/// In signal mode: removes accounts that the node does not track and need not
/// track, because they have no record of the collection (any more) or are
/// inactive.
/// @returns how many were removed
size_t leave_who_is_tracked(std::vector<simnet::expected_account>& truth,
                            const node_repos& node, scene& x);

/// In manual mode: adds every account that the node does not track.
/// @returns whether the node did so
bool add_by_hand(scene& x);

} // namespace weir::sim
