#pragma once

#include "actors/supervisor/limits_accounts.hpp"
#include "actors/supervisor/limits_claims.hpp"
#include "actors/supervisor/listing_machine.hpp"
#include "actors/supervisor/question_machine.hpp"
#include "actors/supervisor/supervisor_machine.hpp"
#include "actors/support/context.hpp"
#include "messages/account.hpp"
#include "messages/backfill.hpp"

#include <functional>

namespace weir::actors {

/// A name that no listing has. Under it a PDS is asked whether the single
/// account in the cursor has records of a signal collection.
inline constexpr auto one_account = "#account";

/// Requests one page of listRepos or of listReposByCollection from an upstream;
/// the answer is a `listing_page`. The real one is `make_repo_lister`.
using repo_lister = std::function<void(
  const upstream_view& upstream, const std::string& collection,
  const std::string& cursor, supervisor_actor to)>;

/// Asks a host for the status of an account; the answer is an `account_answer`.
/// The real one is `make_account_asker`.
using account_asker = std::function<void(
  const atproto::did& repo, const std::string& pds, supervisor_actor to)>;

struct supervisor_environment {
  context_ptr shared;
  repo_lister list;
  account_asker ask;
  bool discover = false; ///< Full-network mode: listings add repos.
  /// Relays are asked which repos have records in these (signal mode).
  std::vector<std::string> signal_collections;
  /// In signal mode, PDSs are asked which repos have records of any signal
  /// collection, in a listing stored under this name. Empty in other modes.
  std::string holders_listing;
  /// The listings as an earlier start left them.
  std::vector<listing_machine::row> listings;
  uint32_t filter_generation = 0; ///< The generation of the filter in force.
  /// The generation of a filter under which repos have quiet work; 0: none.
  uint32_t quiet_work_filter = 0;
  question_options questions;
  bool keeps_some = false; ///< `collections` leaves records out.
  /// DIDs that are remembered of a listing under way (`listing_census`).
  size_t census_entries = limits::census_entries_min;
  /// The memory in bytes for the claims of listings. The claims of streams have
  /// a part of as much in addition.
  size_t claims_bytes = limits::claims_bytes_max;
};

/// Spawns the SUPERVISOR, which serves all partitions: queue, permits, host
/// budgets, retries, listings. Its queue is rebuilt from the stores when it
/// starts. It is in `env.shared` before it runs.
///
/// Lifetime: NODE spawns it; when it dies, the program ends.
supervisor_actor spawn_supervisor(caf::actor_system& system,
                                  supervisor_environment env,
                                  supervisor_options options,
                                  listing_options listing);

} // namespace weir::actors
