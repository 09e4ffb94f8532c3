#pragma once

#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "messages/repo.hpp"
#include "storage/format/records.hpp"

#include <boost/intrusive/list.hpp>

#include <array>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace weir::actors {

enum class fetch_stage : uint8_t {
  delayed,   ///< It waits for its time, or for the end of its host's rest.
  queued,    ///< It waits for the look-up of its host.
  preparing, ///< Its host is being looked up, or its REPO is at work.
  ready,     ///< It waits for a permit.
  running,   ///< It has a permit.
};

/// What the repos of a lane wait for, and what their host did at the last try.
enum class lane_kind : uint8_t {
  answering, ///< A host that answered.
  untried,   ///< A host that was not tried lately.
  silent,    ///< A host whose last try ended without any answer.
  directory, ///< The host is not known; the directory answers.
  /// Hosts of one did:web domain answer; there may be any number of domains.
  web,
};

/// The kinds that are hosts come first.
inline constexpr size_t host_kinds = 3;
inline constexpr size_t lane_kinds = 5;

struct fetch_lane;

/// A repo that wants a fetch or has one. It is in one list at a time, and
/// leaves that list when it is destroyed.
struct fetch_entry
  : boost::intrusive::list_base_hook<
      boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  using alarms = std::multimap<steady_time, fetch_entry*>;

  struct wish {
    storage::repo_status status = storage::repo_status::pending;
    steady_time due;
  };

  const atproto::did* repo = nullptr;
  fetch_lane* lane = nullptr;
  fetch_stage at = fetch_stage::delayed;
  storage::repo_status status = storage::repo_status::pending;
  bool quiet = false;         ///< Its status does not show that it wants work.
  bool attended = false;      ///< Its REPO is woken and no host looked up.
  uint64_t job = 0;           ///< Set while it runs.
  alarms::iterator alarm;     ///< Set while it is delayed.
  std::optional<wish> again;  ///< It is queued when its stage has ended.
  /// The result of the look-up of its host, while it is ready.
  std::shared_ptr<const identity_answer> identity;
};

using fetch_list = boost::intrusive::list<
  fetch_entry, boost::intrusive::constant_time_size<false>>;

/// The number of repos in each stage that has places.
struct fetch_counts {
  size_t preparing = 0;
  size_t ready_count = 0;
  size_t running = 0;

  /// @pre the stage is one of these
  size_t& of(fetch_stage x) noexcept {
    return x == fetch_stage::preparing ? preparing
           : x == fetch_stage::ready   ? ready_count
                                       : running;
  }
};

/// Repos that take turns as one: the repos of one host, or, while their hosts
/// are not known, the repos whose identities the same place answers for.
struct fetch_lane : fetch_counts {
  using turns = std::list<fetch_lane*>;
  static constexpr size_t priorities = 3;

  const std::string* name = nullptr;
  lane_kind kind = lane_kind::untried;
  size_t entries = 0; ///< Entries in any stage.
  std::array<fetch_list, priorities> queued;
  fetch_list ready;
  size_t queued_count = 0;

  size_t failures = 0; ///< Failures in a row.
  size_t crawls = 0;   ///< Downloads in a row that were too slow.
  steady_time rest_until;
  steady_time failed_at;   ///< The time of the last failure.
  steady_time answered_at; ///< The time of the last answer.
  /// Before this time it comes last for permits beyond its share: it gave one.
  steady_time modest_until;

  /// Its places in the turns: one for each priority, and one for the permits.
  std::array<std::optional<turns::iterator>, priorities + 1> seats;
  /// Its place among the lanes that are remembered without entries.
  std::optional<turns::iterator> memory;

  bool is_host() const noexcept {
    return static_cast<size_t>(kind) < host_kinds;
  }
};

} // namespace weir::actors
