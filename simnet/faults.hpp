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

/// Events that can be caused on command, most of them faults.
enum class fault_kind : uint8_t {
  // Faults of one stream: that of `host`, or without it that of the relay.
  drop_connection,  ///< The TCP connection is cut; nothing is lost.
  lose_window,      ///< `count` events are lost; clients get #info.
  lose_silently,    ///< `count` events are lost without notice.
  garble_events,    ///< `count` events are sent but cannot be read.
  throttle_stream,  ///< Sent at `rate`, or without limit when it is 0.
  repeat_events,    ///< The last `count` events are sent again.
  delay_stream,     ///< Events are held back; a `count` of 0 releases them.
  restart_sequence, ///< Numbers start from 1, so old cursors give FutureCursor.
  // Faults of one commit of an account.
  bad_signature,   ///< A commit of another signer that was never made.
  broken_chain,    ///< One commit is not announced, but the next one is.
  wrong_prev_data, ///< A true commit with a wrong prevData.
  big_commit,      ///< A true commit that says tooBig and names no operations.
  bad_shape,       ///< A true commit under the CID of another one.
  early_commit,    ///< Like `bad_signature`, with a rev one day ahead.
  // Changes of an account (protocol-coverage.md 4).
  rotate_key,
  change_handle,
  take_down,
  suspend,
  restore,
  deactivate,
  reactivate,
  remove, ///< The account is deleted at its host.
  tombstone,
  relay_take_down, ///< A takedown by the relay only.
  relay_restore,
  announce_state, ///< A #sync of the present state.
  migrate,
  // Faults of requests. They hit the next `count` requests, or all when it is
  // 0. With `host` or `did` only those; with `lasting` only for that time.
  // `mend` ends them.
  slow_repo,     ///< The answer starts after `time`.
  trickle_repo,  ///< The body comes at `rate`.
  endless_repo,  ///< Unneeded blocks follow the repository without end.
  failing_repo,  ///< Status 500.
  cut_repo,      ///< Half of the body, then the connection ends.
  stale_repo,    ///< The repository as it was when this was ordered.
  missing_repo,  ///< RepoNotFound for a repository, its status and commit.
  unlisted_repo, ///< Left out of listings; each omission counts.
  false_status,  ///< getRepoStatus says the opposite of the truth.
  rate_limit,    ///< Status 429 to com.atproto.sync; Retry-After is `time`.
  host_down,     ///< Status 503 to every XRPC call, streams included.
  host_hang,     ///< No answer to any XRPC call, streams included.
  mend,          ///< Ends the faults of hosts' answers.
  // Faults of requests to the directory; `host` is not used.
  directory_down,   ///< Status 503.
  directory_limit,  ///< Status 429; Retry-After is `time`.
  directory_slow,   ///< The answer comes after `time`.
  directory_hang,   ///< No answer comes.
  directory_refuse, ///< The connection is cut.
  directory_wrong,  ///< The document of another account.
  directory_stale,  ///< The document as it was when this was ordered.
  directory_forget, ///< Status 404, like for an unknown DID.
  directory_gone,   ///< Status 410, like for a DID with a tombstone.
  directory_up,     ///< Ends the faults of the directory.
};

constexpr size_t fault_kinds
  = static_cast<size_t>(fault_kind::directory_up) + 1;

/// The kind of request fault that `x` orders; none for other kinds.
std::optional<request_fault> request_kind(fault_kind x) noexcept;

/// The word in the control interface, such as `drop_connection`.
const char* to_string(fault_kind x) noexcept;

std::optional<fault_kind> parse_fault_kind(std::string_view x) noexcept;

/// All words that `parse_fault_kind` accepts.
std::vector<std::string> fault_names();

struct fault {
  fault_kind kind = fault_kind::drop_connection;
  std::string did; ///< For accounts; if empty, any active account is taken.
  std::optional<size_t> host;
  size_t count = 1;
  /// The delay of a slow answer, or the Retry-After of a limited one.
  std::chrono::milliseconds time{1000};
  std::string handle; ///< New handle for `change_handle`; empty invents one.
  /// Host for `migrate`; by default the next one.
  std::optional<size_t> target;
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
  /// Where `migrate` moves the account: to `target`, or without it to the next
  /// honest host.
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
