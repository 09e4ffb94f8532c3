#pragma once

#include "atproto/commit.hpp"
#include "atproto/frame.hpp"
#include "base/bytes.hpp"
#include "base/clock.hpp"

#include <string>
#include <vector>

/// The one trust boundary. Only this file makes `verified_*` values; whoever
/// holds one knows that hashes, tree proof and signature hold.
namespace weir::atproto {

/// One record change, proved by the commit it came with.
struct verified_op {
  op_action action = op_action::create;
  std::string collection;
  std::string rkey;
  cid id;   ///< Undefined on delete.
  cid prev; ///< Undefined on create.
  /// Record block; a slice of the frame. Empty on delete, and when the block
  /// is no valid record (`undecodable`).
  shared_bytes record;
  /// The block is in the tree but too large or not a strict record: kept in
  /// the log as (path, cid), delivered without its body
  /// (protocol-coverage.md 2.4).
  bool undecodable = false;
};

/// A commit all of whose proofs hold, except that the chain to our own state
/// is still to be compared (`since`, `prev_data`).
struct verified_commit {
  did repo;
  tid rev;
  std::optional<tid> since;
  cid commit;
  cid data;
  cid prev_data; ///< Undefined on a repo's first commit.
  shared_bytes commit_block;
  std::vector<verified_op> ops;
};

/// Why a commit was not verified, in the classes of protocol-coverage.md 2.5.
enum class verdict : uint8_t {
  bad_shape,     ///< Fields, CAR or commit object wrong, or not this DID's.
  future_rev,    ///< rev beyond now + 5 minutes; all else holds.
  bad_signature, ///< Everything else may be fine; refresh the identity once.
  bad_proof,     ///< Signature good; CAR, MST, ops or inversion bad: desync.
  unverifiable,  ///< Signature good; sent in a form that cannot be inverted.
};

const char* to_string(verdict x) noexcept;

struct refusal {
  verdict why = verdict::bad_shape;
  std::string reason;
  tid ahead{};      ///< The rev of a `future_rev`.
  tid signed_rev{}; ///< Of a commit that was signed, and whose proof is faulty.
};

template <class T>
using verified = boost::system::result<T, refusal>;

[[noreturn]] inline void
throw_exception_from_error(const refusal& x, const boost::source_location&) {
  throw std::logic_error(x.reason);
}

/// Whether `rev` is too far beyond `now` (protocol-coverage.md 2.1.4).
bool in_future(tid rev, wall_time now) noexcept;

/// Verifies a #commit frame (protocol-coverage.md 2.1.4 future rule, 2.2, 2.3,
/// 2.4). Order: cheap checks, hashes, tree, inversion, signature; but a proof
/// fault is only reported as `bad_proof` when the signature holds. A rev in the
/// future comes last of all: it may be our clock that is wrong, and only
/// accounts may say so.
/// A commit without `prev_data` is verified as a first commit when its CAR
/// holds the whole tree and its ops create exactly that tree, otherwise it is
/// `unverifiable`.
/// @param frame Owner of the bytes `event` borrows from.
verified<verified_commit> verify_commit(const shared_bytes& frame,
                                        const commit_event& event,
                                        const public_key& key, wall_time now);

/// A #sync whose commit block is signed by `key`, names this DID and has the
/// event's rev (protocol-coverage.md 3.1, 3.5).
struct verified_sync {
  did repo;
  tid rev;
  cid commit;
  cid data;
  shared_bytes commit_block;
};

verified<verified_sync> verify_sync(const shared_bytes& frame,
                                    const sync_event& event,
                                    const public_key& key, wall_time now);

/// The root commit of a full repository export (protocol-coverage.md 5.2).
struct verified_root {
  did repo;
  tid rev;
  cid commit;
  cid data;
  shared_bytes commit_block;
};

verified<verified_root> verify_root(bytes_view block, const cid& id,
                                    const did& expected, const public_key& key,
                                    wall_time now);

} // namespace weir::atproto
