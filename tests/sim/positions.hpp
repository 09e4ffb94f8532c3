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

/// The commits of a stream, each of its frames read once, however often a node
/// that follows it is killed.
class stream_commits {
public:
  using revs = std::map<std::string, atproto::tid>; ///< By DID.

  /// Of each account the last commit after `from` and up to `to`.
  revs last(const simnet::event_log& log, uint64_t from, uint64_t to);

private:
  struct read_frame {
    simnet::event_log::numbered_frame frame; ///< Held, so that it is known again.
    std::optional<std::pair<std::string, atproto::tid>> commit;
  };

  static read_frame read(simnet::event_log::numbered_frame x);

  std::vector<read_frame> known_; ///< Of the last look, in order.
};

/// Whether a stream's durable position is ahead of what came of its events: a
/// commit at or below it, of an account that is active there, must be in the
/// copy, or the repo must be known to lack something (CONS-23,
/// architecture.md I4). Only for streams whose numbers never started anew and
/// that told nothing but the truth.
/// @param known What is known of each stream by its URL; kept from look to
/// look.
/// @returns a sentence; empty: no position is ahead.
std::string position_ahead(const apps::closed_stores& stores, simnet::world& world,
                           const simnet::network_urls& urls,
                           std::map<std::string, stream_commits>& known);

} // namespace weir::sim
