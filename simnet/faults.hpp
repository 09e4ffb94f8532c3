#pragma once

#include "base/error.hpp"
#include "simnet/request_faults.hpp"
#include "simnet/traffic.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::simnet {

/// What can be made to go wrong, or merely to happen, on command.
enum class fault_kind : uint8_t {
  // A stream; `host`, or the relay without one.
  drop_connection,  ///< TCP is cut, nothing is lost.
  lose_window,      ///< `count` events are gone; clients get #info.
  lose_silently,    ///< `count` events are gone without a word.
  restart_sequence, ///< Numbers start from 1: old cursors are FutureCursor.
  // A commit of an account.
  bad_signature,   ///< A commit that never was, signed by somebody else.
  broken_chain,    ///< One commit is never announced, the next one is.
  wrong_prev_data, ///< A true commit with a false prevData.
  // The life of an account (real-network.md 1).
  rotate_key,
  change_handle,
  take_down,
  suspend,
  restore,
  deactivate,
  reactivate,
  remove, ///< The account is deleted at its host.
  tombstone,
  migrate,
  // Requests; of `host` and `did` when given.
  slow_repo,
  failing_repo,
  cut_repo,
  rate_limit,
  directory_down, ///< `count` answers; until `directory_up` when 0.
  directory_up,
};

constexpr size_t fault_kinds
  = static_cast<size_t>(fault_kind::directory_up) + 1;

/// The word used in the control interface: `drop_connection` etc.
const char* to_string(fault_kind x) noexcept;

std::optional<fault_kind> parse_fault_kind(std::string_view x) noexcept;

struct fault {
  fault_kind kind = fault_kind::drop_connection;
  std::string did; ///< Account faults: empty takes any active account.
  std::optional<size_t> host;
  size_t count = 1;
  /// Delay of `slow_repo`, Retry-After of `rate_limit`.
  std::chrono::milliseconds time{1000};
  std::string handle;           ///< Of `change_handle`; empty invents one.
  std::optional<size_t> target; ///< Host of `migrate`; default the next one.
};

/// One fault that was carried out.
struct fault_record {
  fault_kind kind = fault_kind::drop_connection;
  size_t count = 1; ///< Connections cut, events lost, requests to be hit.
  std::vector<std::string> dids; ///< Accounts it touched.
};

/// Carries out faults and keeps the books, so that what was healed can be
/// compared with what was injected.
///
/// # Ownership and threads
/// Borrows world, traffic and request faults. All calls from any thread.
class faults {
public:
  faults(world& where, traffic& life, request_faults& requests);

  /// Errors: `not_found` (no such account, none in a fitting state),
  /// `invalid_argument` (no such host, or not in this account's state).
  result<fault_record> inject(const fault& x);

  /// How often each kind was injected.
  std::map<std::string, uint64_t> injected() const;

  /// Everything that was injected, in order.
  std::vector<fault_record> ledger() const;

private:
  result<fault_record> perform(const fault& x);
  result<fault_record> disturb_stream(const fault& x);
  result<fault_record> disturb_account(const fault& x);
  result<fault_record> order_requests(const fault& x);
  fault_record lose(event_log& log, const fault& x);
  result<size_t> choose(const fault& x);
  std::optional<size_t> any_account(const fault& x);
  result<void> happen(world::account& x, const fault& what);

  world& world_;
  traffic& traffic_;
  request_faults& requests_;
  mutable std::mutex guard_; ///< Guards the two below.
  std::vector<fault_record> ledger_;
  std::unique_ptr<random_source> random_;
};

} // namespace weir::simnet
