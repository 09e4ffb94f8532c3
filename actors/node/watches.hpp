#pragma once

#include "actors/node/limits.hpp"
#include "actors/support/context.hpp"
#include "actors/support/limits.hpp"
#include "base/error.hpp"
#include "base/process.hpp"

#include <functional>
#include <string>

/// The actors with which NODE watches itself. Each lives as long as NODE, and
/// its end ends the process.
namespace weir::actors {

/// Spawns NODE's health watch. Every `limits::health_check_interval` it judges
/// whether the clock is right and, if most work fails, why. It logs each
/// cause once when it begins and once when it has ended, and stops intake while
/// the clock is suspect. When the clock was set forward, repos that wait
/// because a rev was later than it are fetched at once.
common_actor spawn_health_watch(caf::actor_system& system, context_ptr shared);

/// Spawns the actor that watches progress: it logs how far fetches are
/// (`backfill_story`) and has READERs measure the size of the stores. It resets
/// `store_stats::waits_since` when everything was reported.
common_actor spawn_progress_watch(caf::actor_system& system,
                                  context_ptr shared);

struct room_watch_options {
  std::string data_dir;
  uint64_t disk_reserve = 0; ///< The value of the setting.
  uint64_t memory_limit = limits::memory_limit_range.standard;
  /// `resident` returns the memory of the process in RAM. `give_back` returns
  /// unused memory; `heap_return` says when.
  std::function<uint64_t()> resident = resident_bytes;
  std::function<void()> give_back = return_free_memory;
};

/// Spawns NODE's room watch (architecture.md, When memory runs short, When the
/// disk fills up): it checks the disk every `limits::room_check_interval` and
/// memory ten times as often, writes the intake board, and notifies UPSTREAMs
/// and SUPERVISORs of changes.
///
/// # Errors
/// A store that found no space is closed for writing. When there is ample room
/// again and the disks of all stores take writes (`write_trials`), `on_failure`
/// is called once with `ec::disk_full`. It is called with another code when the
/// store's directory no longer exists.
room_actor spawn_room_watch(caf::actor_system& system, context_ptr shared,
                            room_watch_options options,
                            std::function<void(const error&)> on_failure);

} // namespace weir::actors
