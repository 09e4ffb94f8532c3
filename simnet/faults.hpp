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

/// The word in the control interface, such as `drop_connection`.
const char* to_string(fault_kind x) noexcept;

std::optional<fault_kind> parse_fault_kind(std::string_view x) noexcept;

/// All words that `parse_fault_kind` accepts.
std::vector<std::string> fault_names();

struct fault {
  fault_kind kind = fault_kind::drop_connection;
  std::string did = {}; ///< For accounts; if empty, any active one is taken.
  std::optional<size_t> host = {};
  size_t count = 1;
  /// The delay of a slow answer, or the Retry-After of a limited one.
  std::chrono::milliseconds time{1000};
  std::string handle = {}; ///< For `change_handle`; empty invents one.
  /// Host for `migrate`; by default the next one.
  std::optional<size_t> target = {};
  uint64_t rate = 20'000;               ///< Bytes per second.
  std::chrono::milliseconds lasting{0}; ///< 0 for no end.
  /// Changes of the account are not announced on any stream.
  bool silent = false;
};

/// One fault that was carried out.
struct fault_record {
  fault_kind kind = fault_kind::drop_connection;
  size_t count = 1; ///< Connections cut, events lost, or requests to hit.
  std::vector<std::string> dids; ///< The accounts that it affected.
};

/// Carries out faults and records them, so that what an engine repaired can be
/// compared with what went wrong.
///
/// # Ownership and threads
/// Borrows world, traffic and request faults. All calls are safe from any
/// thread.
class faults {
public:
  faults(world& where, traffic& life, request_faults& requests);

  /// Errors: `not_found` when there is no such account, or none in a fitting
  /// state; `invalid_argument` when there is no such host, or the account's
  /// state does not fit.
  result<fault_record> inject(const fault& x);

  /// How often each kind was carried out.
  std::map<std::string, uint64_t> injected() const;

  /// All faults that were carried out, in order.
  std::vector<fault_record> ledger() const {
    const std::lock_guard lock{guard_};
    return ledger_;
  }

private:
  result<fault_record> perform(const fault& x);
  result<fault_record> disturb_stream(const fault& x);
  result<fault_record> disturb_account(const fault& x);
  result<fault_record> order_requests(const fault& x);
  fault_record lose(event_log& log, const fault& x);
  result<size_t> choose(const fault& x);
  std::optional<size_t> any_account(const fault& x);
  void happen(world::account& x, const fault& what);
  /// The host to which `migrate` moves the account: `target`, or without it the
  /// next honest one.
  size_t new_home(const world::account& x, const fault& what) const {
    return what.target.value_or((x.host + 1)
                                % world_.options().population.hosts);
  }

  world& world_;
  traffic& traffic_;
  request_faults& requests_;
  mutable std::mutex guard_; ///< Guards the next two.
  std::vector<fault_record> ledger_;
  std::unique_ptr<random_source> random_;
};

} // namespace weir::simnet
