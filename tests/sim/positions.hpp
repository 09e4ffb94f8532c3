#pragma once

#include "apps/weir/closed_stores.hpp"
#include "atproto/identifiers.hpp"
#include "simnet/event_log.hpp"
#include "simnet/servers.hpp"
#include "simnet/world.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::sim {

/// The commits of a stream. Each frame is decoded once, however often a node
/// that follows it is killed.
class stream_commits {
public:
  using revs = std::map<std::string, atproto::tid>; ///< By DID.

  /// The last commit of each account after `from` and up to `to`.
  revs last(const simnet::event_log& log, uint64_t from, uint64_t to);

private:
  struct read_frame {
    /// Kept so that it is recognized again.
    simnet::event_log::numbered_frame frame;
    std::optional<std::pair<std::string, atproto::tid>> commit;
  };

  static read_frame read(simnet::event_log::numbered_frame x);

  std::vector<read_frame> known_; ///< The frames of the last call, in order.
};

/// Checks that a stream's durable position is not ahead of what came of its
/// events: a commit at or below it, of an account that is active there, must be
/// in the copy, or the repo must be known to lack something (CONS-23,
/// architecture.md I4). Only for streams whose seqs never began anew and that
/// told nothing untrue.
/// @param known The commits of each stream by its URL, kept from call to call.
/// @returns a sentence; empty: no position is ahead.
std::string position_ahead(const apps::closed_stores& stores, simnet::world& world,
                           const simnet::network_urls& urls,
                           std::map<std::string, stream_commits>& known);

} // namespace weir::sim
