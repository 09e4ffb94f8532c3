#pragma once

#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "messages/identity_answer.hpp"
#include "storage/format/records.hpp"

#include <boost/intrusive/list.hpp>

#include <array>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace weir::actors {

/// Where a repo of the queue stands.
enum class fetch_stage : uint8_t {
  delayed,   ///< Waits for its time, or for the rest of its host.
  queued,    ///< Waits for the look-up of its host.
  preparing, ///< Its host is looked up, or its REPO attends to it.
  ready,     ///< Waits for a permit.
  running,   ///< Has one.
};

/// What repos of a lane wait for, and what their host did the last time.
enum class lane_kind : uint8_t {
  answering, ///< A host that answered.
  untried,   ///< A host that was not tried lately.
  silent,    ///< A host whose last try ended without any answer.
  directory, ///< Their host is not known; the directory answers for them.
  web,       ///< The same of a domain of did:web names, one of any number.
};

inline constexpr size_t host_kinds = 3; ///< The first ones.
inline constexpr size_t lane_kinds = 5;

struct fetch_lane;

/// A repo that wants a fetch or has one. It is in one list at a time and leaves
/// it when it is destroyed.
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
  bool quiet = false;         ///< Its status does not say that it wants work.
  bool attended = false;      ///< By its REPO; else its host is looked up.
  uint64_t job = 0;           ///< While running.
  alarms::iterator alarm;     ///< While delayed.
  std::optional<wish> again;  ///< Is queued when its stage has ended.
  /// While ready: what the look-up of its host brought.
  std::shared_ptr<const identity_answer> identity;
};

using fetch_list = boost::intrusive::list<
  fetch_entry, boost::intrusive::constant_time_size<false>>;

/// Repos that take turns as one: those of a host, or, while their host is not
/// known, those that the same place answers for.
struct fetch_lane {
  using turns = std::list<fetch_lane*>;
  static constexpr size_t priorities = 3;

  const std::string* name = nullptr;
  lane_kind kind = lane_kind::untried;
  size_t entries = 0; ///< In any stage.
  std::array<fetch_list, priorities> queued;
  fetch_list ready;
  size_t queued_count = 0;
  size_t ready_count = 0;
  size_t preparing = 0;
  size_t running = 0;

  size_t failures = 0; ///< In a row.
  size_t crawls = 0;   ///< The same, of downloads that were too slow.
  steady_time rest_until;
  steady_time failed_at;   ///< The last time.
  steady_time answered_at; ///< The last time.
  steady_time modest_until; ///< It gave a permit back.

  /// Its seats: of each priority, and of the permits.
  std::array<std::optional<turns::iterator>, priorities + 1> seats;
  /// While it is remembered without entries.
  std::optional<turns::iterator> memory;

  bool is_host() const noexcept {
    return static_cast<size_t>(kind) < host_kinds;
  }
};

} // namespace weir::actors
