#pragma once

#include "simnet/faults.hpp"
#include "tests/sim/settings.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace weir::sim {

/// What can happen in a run.
enum class deed_kind : uint8_t {
  life,      ///< Commits, handle changes and such; `value` events.
  writes,    ///< `value` commits of one account, as long as it lasts.
  newcomers, ///< `value` new accounts.
  fault,     ///< One of the network's own (`what`).
  refuse,    ///< Dials to a server are refused, and connections cut.
  swallow,   ///< Dials to a server are not answered, and connections cut.
  stall,     ///< Connections to a server bring nothing any more.
  crawl,     ///< A server is served at `value` bytes a second.
  cut,       ///< Connections to a server are cut once.
  unname,    ///< The name of a server is not known any more.
  mute_name, ///< Nobody answers what the address of a server is.
  clock,     ///< The node's wall clock is wrong by `value` seconds.
  disk_full, ///< The disk takes `value` more bytes.
  disk_error, ///< The call number `value` of the disk fails.
  kill,      ///< The node is killed, and started again.
  kill_in_write, ///< It is killed at the call number `value` of the disk.
  kill_again, ///< So it is, and then again and again in its next lives.
  power,     ///< The machine loses power in the call number `value`.
  restart,   ///< The node stops in good order, and starts again.
  hang_up,   ///< The application hangs up.
  forget,    ///< The application leaves out acks.
  add,       ///< Somebody adds an account to the node,
  remove,    ///< removes one,
  resync,    ///< or has one fetched again.
  die,       ///< `value` actors of the node die, one by one.
  all_write, ///< All accounts write something.
  flap,      ///< Connections to a server last `value` milliseconds.
  names,     ///< Clients ask for `value` unknown names a second.
  bodies,    ///< `value` clients declare long bodies and send little of them.
  leave,     ///< The application is not there for a while.
};

constexpr size_t deed_kinds = static_cast<size_t>(deed_kind::leave) + 1;

const char* to_string(deed_kind x) noexcept;

/// Who is meant by a deed at the network.
enum class server : uint8_t { host, relay, directory };

const char* to_string(server x) noexcept;

struct deed {
  size_t round = 0;
  std::chrono::microseconds at{0}; ///< Since the round began.
  deed_kind kind = deed_kind::life;
  simnet::fault_kind what = simnet::fault_kind::drop_connection;
  server of = server::host;
  size_t number = 0; ///< Of a host or an account; modulo how many there are.
  int64_t value = 0;
  std::chrono::microseconds lasting{0};
  bool silent = false;
  /// Who comes back is the account of this number; else whoever is away.
  bool exact = false;
};

/// For people.
std::string describe(const deed& x);

/// What happens in the run of this seed, in order of time.
std::vector<deed> draw_deeds(const run_settings& settings);

} // namespace weir::sim
