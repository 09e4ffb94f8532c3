#pragma once

#include "actors/node/node_config.hpp"
#include "simnet/options.hpp"
#include "tests/sim/stepper.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace weir::sim {

/// The upstreams from which the node learns of the network.
enum class following : uint8_t { relay, hosts, both };

/// The theme of a run, if it has one (pressure.hpp).
enum class theme : uint8_t {
  none,
  failing,  ///< More failing repos at a host than there are places for fetches.
  siege,    ///< Hosts that crawl and have many accounts.
  by_hand,  ///< Repos are added, removed and resynced at any time.
  deaths,   ///< Single actors die.
  names,    ///< Collections that only one account has.
  doubts,   ///< Listings are ahead of streams.
  flood,    ///< More events than a window holds, on a slow disk.
  sharing,  ///< Honest hosts share a node with each other.
  look_ups, ///< A low rate of look-ups, and a host that needs many.
  broad,    ///< An account with hundreds of collections.
};

constexpr size_t themes = static_cast<size_t>(theme::broad) + 1;

/// The plot of a run. Most runs have none. The others have deeds of one kind
/// that interact, and nothing else happens in them (plots.hpp, oddities.hpp).
enum class plot : uint8_t {
  none,
  outages, ///< Identities change while the directory does not answer.
  flaps,   ///< Streams open and end at once, repeatedly.
  clients, ///< Clients ask for more than their share.
  /// Hosts and the directory report for a while that accounts are gone.
  errors,
  words,  ///< Relay and host report different states of the same accounts.
  clocks, ///< The wall clock is wrong while something is written or fails.
  /// A request that failed for hours and recovered fails once more, briefly.
  relapses,
  absences, ///< No event tells that accounts go or come back.
  misfits,  ///< The last event of an account cannot be used.
  states,   ///< A state that the node already has is sent again during a fetch.
  waits,    ///< Accounts go before the application has read their events.
  lags,     ///< Hosts serve old states of repos.
  holes,    ///< Streams lose events, and report that.
  quiet,    ///< Streams that brought no event yet are disconnected for a while.
  drains,   ///< The node dies at the end of a long fetch.
  backlogs, ///< Listings come while streams bring events that are minutes old.
  numbers,  ///< A stream's seqs begin anew while its events wait.
  replays, ///< Events that a stopped node missed come slowly, with future revs.
  erasures, ///< Repos are removed before the application has read their events.
  ailing,   ///< Hosts answer only 503, or not at all.
  behind,   ///< For a long time a stream is slower than its accounts write.
};

constexpr size_t plots = static_cast<size_t>(plot::behind) + 1;

/// All properties of a run except its deeds. All of them are drawn from the
/// seed.
struct run_settings {
  uint64_t seed = 0;
  pace speed;
  /// Deeds come in rounds and are spread over this time. After each round all
  /// faults are repaired, and everything must be right again.
  std::chrono::microseconds span{0};
  size_t rounds = 1;
  /// How soon after the last fault of a round everything must be right, without
  /// help.
  std::chrono::microseconds settle_max{0};
  /// The same after the later rounds, which are short.
  std::chrono::microseconds settle_again_max{0};
  plot about = plot::none;
  following follows = following::relay;
  simnet::network_options world;
  actors::node_config node;
  /// The collections that the node keeps, for each of its lives in turn. When
  /// empty, it keeps all.
  std::vector<std::vector<std::string>> filters;
  /// Whether listings come often enough to find what streams leave out.
  /// Otherwise nothing happens that only they could find.
  bool audited = true;
  /// In each round the node is killed a few times while a repo's commits are
  /// written.
  bool dies_in_writes = false;
  /// Nothing happens that breaks the chain of a repo, so no repo must be
  /// fetched a second time.
  bool sound = false;
  bool ends_in_peace = false; ///< The last faults end by themselves.
  std::chrono::microseconds latency{500};
  /// Bytes a second of each connection to an honest host or the relay; 0: no
  /// limit. With a low rate, data is still on its way when something happens.
  uint64_t rate = 0;
  /// Bytes a second of each connection to a hostile host, so the rate of its
  /// endless answers.
  uint64_t enemy_rate = 0;
  bool lives_on = false; ///< Accounts continue to write after the last fault.
  /// The application connects for the first time after the first faults.
  bool reads_late = false;
  bool rests = false;    ///< There is a long silence at the end.
  theme subject = theme::none;
  std::chrono::microseconds directory_latency{500};
  bool enemies_fail = false; ///< Downloads of hostile hosts always fail.
  /// The interval between checks of the node's bounds, besides those at deeds;
  /// 0: never.
  std::chrono::microseconds watches_bounds{0};
  bool removals_stay = false; ///< Repos that were removed are not added again.
  /// The seed is run once more to check how hosts share the node.
  bool weighs_sharing = false;
  bool weighs_commits = false; ///< What a commit writes is measured.
  /// Added to twice the time in the check of fairness.
  std::chrono::microseconds fairness_slack = std::chrono::seconds{10};
  /// The seed is run without its hostile hosts, too.
  bool weighs_fairness = false;
  /// The seed is run twice more: with commits that wait for a fetch and
  /// without.
  bool weighs_buffering = false;
};

/// @param time Gives the times of everything that the world makes; outlives it.
/// @param alter Changes the settings that were drawn, if given.
run_settings
draw_settings(uint64_t seed, const clock& time,
              const std::function<void(run_settings&)>& alter = {});

} // namespace weir::sim
