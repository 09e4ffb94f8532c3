#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::simnet {

/// Events that can be caused on command, most of them faults. Their order
/// matters: a group is told by its first and last kind (`is_of_requests`,
/// `request_faults::clear`), and the words in faults.cpp have the same order.
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
  slow_repo,     ///< getRepo: the answer starts after `time`.
  trickle_repo,  ///< getRepo: the body comes at `rate`.
  endless_repo,  ///< getRepo: unneeded blocks follow without end.
  failing_repo,  ///< getRepo: status 500.
  cut_repo,      ///< getRepo: half of the body, then the connection ends.
  stale_repo,    ///< getRepo: the repository as it was when this was ordered.
  missing_repo,  ///< getRepo, getRepoStatus, getLatestCommit: RepoNotFound.
  unlisted_repo, ///< listRepos: the account is left out; each omission counts.
  false_status,  ///< getRepoStatus: the opposite of the truth.
  rate_limit,    ///< Any com.atproto.sync read: 429; Retry-After is `time`.
  host_down,     ///< Any XRPC call of a host, streams too: status 503.
  host_hang,     ///< Any XRPC call of a host, streams too: no answer.
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

/// True for the faults of requests, which are ordered and hit later.
constexpr bool is_of_requests(fault_kind x) noexcept {
  return x >= fault_kind::slow_repo && x != fault_kind::mend
         && x != fault_kind::directory_up;
}

} // namespace weir::simnet
