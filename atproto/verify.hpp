#pragma once

#include "atproto/commit.hpp"
#include "atproto/frame.hpp"
#include "base/bytes.hpp"
#include "base/clock.hpp"

#include <string>
#include <vector>

/// The only trust boundary. Only this file makes `verified_*` values. Whoever
/// has one knows that its hashes, tree proof and signature hold.
namespace weir::atproto {

/// One change of a record, proved by the commit that contains it.
struct verified_op {
  op_action action = op_action::create;
  std::string collection;
  std::string rkey;
  cid id;   ///< Undefined on delete.
  cid prev; ///< Undefined on create.
  /// The block of the record, a slice of the frame. Empty for a delete, and for
  /// a block that is no valid record (`undecodable`).
  shared_bytes record;
  /// The block is in the tree but is too large or no strict record. The log
  /// keeps its path and CID, and it is delivered without a body
  /// (protocol-coverage.md 2.4).
  bool undecodable = false;
};

/// A commit whose proofs all hold. What remains is to compare `since` and
/// `prev_data` with our own state of the repo.
struct verified_commit {
  did repo;
  tid rev;
  std::optional<tid> since;
  cid commit;
  cid data;
  cid prev_data; ///< Undefined for the first commit of a repo.
  shared_bytes commit_block;
  std::vector<verified_op> ops;
};

/// Why a commit was not verified (protocol-coverage.md 2.5).
enum class verdict : uint8_t {
  bad_shape,     ///< A field, the CAR or the commit object is wrong.
  future_rev,    ///< The rev is later than now + 5 minutes; the rest holds.
  bad_signature, ///< The signature is wrong; look the key up again once.
  bad_proof,     ///< Signed, but CAR, MST, ops or inversion do not hold.
  unverifiable,  ///< Signed, but sent in a form that cannot be inverted.
};

const char* to_string(verdict x) noexcept;

struct refusal {
  verdict why = verdict::bad_shape;
  std::string reason;
  tid ahead{};      ///< The rev, for `future_rev`.
  tid signed_rev{}; ///< The rev of a signed commit whose proof does not hold.
};

template <class T>
using verified = boost::system::result<T, refusal>;

[[noreturn]] inline void
throw_exception_from_error(const refusal& x, const boost::source_location&) {
  throw std::logic_error(x.reason);
}

/// True when `rev` is too far beyond `now` (protocol-coverage.md 2.1.4).
bool in_future(tid rev, wall_time now) noexcept;

/// Verifies a #commit frame (protocol-coverage.md 2.1.4, 2.2, 2.3, 2.4). Cheap
/// checks come first, then hashes, tree, inversion and signature. A fault of
/// the proof is reported as `bad_proof` only when the signature holds, since
/// only then the account itself is at fault. A rev in the future is reported
/// last: perhaps our clock is wrong, and only commits that are otherwise
/// correct are evidence for that.
///
/// A commit without `prev_data` is accepted as a first commit when its CAR
/// contains the whole tree and its ops create exactly that tree. Otherwise it
/// is `unverifiable`.
/// @param frame Owns the bytes that `event` borrows.
verified<verified_commit> verify_commit(const shared_bytes& frame,
                                        const commit_event& event,
                                        const public_key& key, wall_time now);

/// A #sync whose commit block is signed by `key`, names this DID and has the
/// rev of the event (protocol-coverage.md 3.1, 3.5).
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
