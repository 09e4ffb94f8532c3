#pragma once

#include "actors/node/node_config.hpp"
#include "simnet/options.hpp"
#include "tests/sim/stepper.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace weir::sim {

/// How the node learns of the network.
enum class following : uint8_t { relay, hosts, both };

/// What a run is about, if anything (pressure.hpp).
enum class theme : uint8_t {
  none,
  failing, ///< Hosts with more failing repos than there are places.
  siege,   ///< Hosts that crawl, with many accounts.
  by_hand, ///< Repos are added, removed and resynced in the middle of things.
  deaths,  ///< Single actors die.
  names,   ///< Collections of one account alone.
  doubts,  ///< Listings are ahead of streams.
  flood,   ///< More events than a window holds, on a slow disk.
  sharing, ///< Honest hosts beside each other.
  look_ups, ///< Few look-ups, and a host that wants many.
  broad,   ///< An account with hundreds of collections.
};

constexpr size_t themes = static_cast<size_t>(theme::broad) + 1;

/// What a run is about. Most are about nothing in particular; the others have
/// deeds of one kind that meet, and nothing else happens in them (plots.hpp,
/// oddities.hpp).
enum class plot : uint8_t {
  none,
  outages,  ///< Identities change while the directory does not answer.
  flaps,    ///< Streams open and end at once, again and again.
  clients,  ///< Clients ask for more than their share.
  errors,   ///< Hosts and the directory say for a while that accounts are gone.
  words,    ///< Relay and host say different things about the same accounts.
  clocks,   ///< The wall clock is wrong while something is written or fails.
  relapses, ///< What failed for hours, and was well, fails for a moment.
  absences, ///< Nobody tells that accounts go or come back.
  misfits,  ///< The last word of an account cannot be used.
  states,   ///< What is there already is told again while it is fetched.
  waits,    ///< Accounts go while the application has not read them.
  lags,     ///< Hosts serve repositories as they were.
  holes,    ///< Streams lose events, and say so.
  quiet,    ///< Streams that brought nothing yet are away for a while.
  drains,   ///< The node dies when a long fetch is over.
  backlogs, ///< Listings come while streams bring what is minutes old.
  numbers,  ///< Those of a stream begin anew while its events wait.
  replays,  ///< What a stopped node missed comes slowly, with revs of tomorrow.
  erasures, ///< Repos go by hand while the application has not read them.
  ailing,   ///< Hosts answer with 503 only, or nothing.
  behind,   ///< A stream serves more slowly than its accounts write, for long.
};

constexpr size_t plots = static_cast<size_t>(plot::behind) + 1;

/// Everything about a run but the deeds. All of it is drawn from the seed.
struct run_settings {
  uint64_t seed = 0;
  pace speed;
  /// Deeds come in rounds, spread over so long each; after each of them all is
  /// mended, and must be right again.
  std::chrono::microseconds span{0};
  size_t rounds = 1;
  /// How soon after the last fault of a round all must be right, without help.
  std::chrono::microseconds settle_max{0};
  /// The same after the later rounds, which are short.
  std::chrono::microseconds settle_again_max{0};
  plot about = plot::none;
  following follows = following::relay;
  simnet::network_options world;
  actors::node_config node;
  /// The collections that the node keeps, in each of its lives in turn; none: all
  /// of them.
  std::vector<std::vector<std::string>> filters;
  /// Whether listings come often enough to find what streams leave out. Else
  /// nothing happens that only they could find.
  bool audited = true;
  /// In each round it is killed some times while a repo's commits are written.
  bool dies_in_writes = false;
  /// Nothing happens that breaks the chain of a repo, so that none has to be
  /// fetched a second time.
  bool sound = false;
  bool ends_in_peace = false; ///< The last faults end by themselves.
  std::chrono::microseconds latency{500};
  /// Bytes a second that each connection to an honest host or the relay carries;
  /// 0: no bound. What is slow is under way when something happens to it.
  uint64_t rate = 0;
  /// Bytes a second that each connection to a hostile host carries: what goes
  /// on for ever goes on at this rate.
  uint64_t enemy_rate = 0;
  bool lives_on = false; ///< Accounts go on writing after the last fault.
  bool rests = false; ///< There is a long silence at the end.
  theme subject = theme::none;
  std::chrono::microseconds directory_latency{500};
  bool enemies_fail = false;    ///< Downloads of hostile hosts, all the time.
  /// How often it is looked at what the node holds, beside deeds; 0: never.
  std::chrono::microseconds watches_bounds{0};
  bool removals_stay = false; ///< Nobody adds again what somebody removed.
  bool weighs_sharing = false;  ///< The seed is run for it once more.
  bool weighs_commits = false;  ///< What a commit writes is measured.
  /// What may be added to twice the time.
  std::chrono::microseconds fairness_slack = std::chrono::seconds{10};
  bool weighs_fairness = false; ///< The seed is run without its enemies, too.
  /// The seed is run twice more: commits that wait for a fetch, and that do not.
  bool weighs_buffering = false;
};

/// @param time Dates what the world makes; outlives it.
/// @param alter Changes what was drawn, if anything.
run_settings
draw_settings(uint64_t seed, const clock& time,
              const std::function<void(run_settings&)>& alter = {});

} // namespace weir::sim
