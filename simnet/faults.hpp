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
  garble_events,    ///< `count` events are sent, and cannot be read.
  throttle_stream,  ///< Served at `rate`; as fast as it is taken when 0.
  repeat_events,    ///< The last `count` events are sent once more.
  delay_stream,     ///< Events are held back; when `count` is 0 they all come.
  restart_sequence, ///< Numbers start from 1: old cursors are FutureCursor.
  // A commit of an account.
  bad_signature,   ///< A commit that never was, signed by somebody else.
  broken_chain,    ///< One commit is never announced, the next one is.
  wrong_prev_data, ///< A true commit with a false prevData.
  big_commit,      ///< A true commit that says tooBig and brings nothing.
  bad_shape,       ///< A true commit that names another one as its own.
  early_commit,    ///< As `bad_signature`, and its rev is a day ahead.
  // The life of an account (protocol-coverage.md 4).
  rotate_key,
  change_handle,
  take_down,
  suspend,
  restore,
  deactivate,
  reactivate,
  remove, ///< The account is deleted at its host.
  tombstone,
  relay_take_down, ///< The relay's own; its host goes on.
  relay_restore,
  announce_state, ///< #sync of what is there already.
  migrate,
  // Requests: `count` of them, all when 0, those of `host` and `did` when
  // given, for `lasting` when given, and until `mend`.
  slow_repo,     ///< Starts after `time`.
  trickle_repo,  ///< Comes at `rate`.
  endless_repo,  ///< After the repository blocks that no one needs, for ever.
  failing_repo,  ///< 500.
  cut_repo,      ///< Half of it, then the connection ends.
  stale_repo,    ///< As it was when this was ordered.
  missing_repo,  ///< RepoNotFound, from all reads of one repository.
  unlisted_repo, ///< Left out of listings; each one counts.
  false_status,  ///< getRepoStatus tells the opposite of the truth.
  rate_limit,    ///< 429, Retry-After is `time`.
  host_down,     ///< 503 to every XRPC call, streams too.
  host_hang,     ///< No answer to any XRPC call, streams too.
  mend,          ///< Hosts answer as they should again.
  // Requests to the directory; `host` has no meaning.
  directory_down,   ///< 503.
  directory_limit,  ///< 429, Retry-After is `time`.
  directory_slow,   ///< The answer comes after `time`.
  directory_hang,   ///< No answer comes.
  directory_refuse, ///< The connection is cut.
  directory_wrong,  ///< The document of somebody else.
  directory_stale,  ///< The document as it was when this was ordered.
  directory_forget, ///< 404, as of a DID that was never registered.
  directory_gone,   ///< 410, as of a DID with a tombstone.
  directory_up,     ///< The directory answers as it should again.
};

constexpr size_t fault_kinds
  = static_cast<size_t>(fault_kind::directory_up) + 1;

/// What a request suffers of a fault; none for those that are no order.
std::optional<request_fault> request_kind(fault_kind x) noexcept;

/// The word used in the control interface: `drop_connection` etc.
const char* to_string(fault_kind x) noexcept;

std::optional<fault_kind> parse_fault_kind(std::string_view x) noexcept;

/// All that `parse_fault_kind` knows.
std::vector<std::string> fault_names();

struct fault {
  fault_kind kind = fault_kind::drop_connection;
  std::string did; ///< Account faults: empty takes any active account.
  std::optional<size_t> host;
  size_t count = 1;
  /// Delay of what is slow, Retry-After of what is limited.
  std::chrono::milliseconds time{1000};
  std::string handle;           ///< Of `change_handle`; empty invents one.
  std::optional<size_t> target; ///< Host of `migrate`; default the next one.
  uint64_t rate = 20'000;       ///< Bytes a second.
  std::chrono::milliseconds lasting{0}; ///< 0: no end of its own.
  /// What happens to an account is told by no stream.
  bool silent = false;
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
  std::shared_ptr<const std::vector<account_view>> everybody() const;
  std::shared_ptr<const std::vector<shared_bytes>> repositories() const;
  fault_record lose(event_log& log, const fault& x);
  result<size_t> choose(const fault& x);
  std::optional<size_t> any_account(const fault& x);
  result<void> happen(world::account& x, const fault& what);
  result<void> move(world::account& x, const fault& what);

  world& world_;
  traffic& traffic_;
  request_faults& requests_;
  mutable std::mutex guard_; ///< Guards the two below.
  std::vector<fault_record> ledger_;
  std::unique_ptr<random_source> random_;
};

} // namespace weir::simnet
