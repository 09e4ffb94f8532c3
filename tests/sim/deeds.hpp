#pragma once

#include "simnet/faults.hpp"
#include "tests/sim/settings.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace weir::sim {

/// The kinds of events that a run can have.
enum class deed_kind : uint8_t {
  life,       ///< Commits, handle changes and other traffic; `value` events.
  writes,     ///< `value` commits of one account, spread over its duration.
  newcomers,  ///< `value` new accounts.
  fault,      ///< A fault of the simulated network (`what`).
  refuse,     ///< Connections to a server are refused, and open ones cut.
  swallow,    ///< Connections to a server get no answer, and open ones are cut.
  stall,      ///< Open connections to a server deliver nothing any more.
  crawl,      ///< A server's connections carry `value` bytes a second.
  cut,        ///< Open connections to a server are cut once.
  unname,     ///< The name of a server does not exist any more.
  mute_name,  ///< Queries for a server's address are not answered.
  clock,      ///< The node's wall clock is wrong by `value` seconds.
  disk_full,  ///< The disk has room for `value` more bytes.
  disk_error, ///< The call number `value` of the disk fails.
  kill,       ///< The node is killed, and started again.
  kill_in_write, ///< The node is killed at call number `value` of the disk.
  kill_again,    ///< The same, repeated in its next lives.
  power,         ///< The machine loses power in the call number `value`.
  restart,       ///< The node stops in order, and starts again.
  hang_up,       ///< The application closes its connection.
  forget,        ///< The application leaves out some acks.
  add,           ///< An operator adds an account to the node.
  remove,        ///< An operator removes an account.
  resync,        ///< An operator has an account fetched again.
  die,           ///< `value` actors of the node die, one by one.
  all_write,     ///< All accounts write something.
  flap,          ///< Connections to a server last `value` milliseconds.
  names,         ///< Clients ask for `value` unknown names a second.
  bodies, ///< `value` clients declare long bodies and send little of them.
  leave,  ///< The application is absent for a while.
};

constexpr size_t deed_kinds = static_cast<size_t>(deed_kind::leave) + 1;

const char* to_string(deed_kind x) noexcept;

/// The server that a deed affects.
enum class server : uint8_t { host, relay, directory };

const char* to_string(server x) noexcept;

struct deed {
  size_t round = 0;
  std::chrono::microseconds at{0}; ///< Time since the round began.
  deed_kind kind = deed_kind::life;
  simnet::fault_kind what = simnet::fault_kind::drop_connection;
  server of = server::host;
  /// Number of a host or an account, modulo how many there are.
  size_t number = 0;
  int64_t value = 0;
  std::chrono::microseconds lasting{0};
  bool silent = false;
  /// The account with this number comes back; otherwise any inactive one.
  bool exact = false;
};

/// A description for people.
std::string describe(const deed& x);

/// The deeds of a run with this seed, in order of time.
std::vector<deed> draw_deeds(const run_settings& settings);

} // namespace weir::sim
