#pragma once

#include "atproto/cid.hpp"
#include "atproto/identifiers.hpp"
#include "simnet/event_log.hpp"
#include "simnet/repo_tree.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::simnet {

/// What an account is at its host; `tombstoned` is the directory's word, which
/// the host does not know.
enum class standing : uint8_t {
  active,
  deactivated,
  suspended,
  takendown,
  deleted,
  tombstoned
};

/// The word of the protocol; null for `active` and `tombstoned`, at which a
/// host names no status.
const char* status_word(standing x) noexcept;

/// Name for people and for JSON.
const char* to_string(standing x) noexcept;

/// Where an account lived before it moved, as it was left there.
struct former_home {
  size_t host = 0;
  atproto::tid rev;
  atproto::cid head;
};

/// One account at one moment.
struct account_view {
  size_t index = 0;
  atproto::did id;
  std::string handle;
  std::string signing_key; ///< Multikey.
  size_t host = 0;
  standing status = standing::active;
  atproto::tid rev; ///< Of the last signed commit.
  /// What the host claims: ahead of `rev` from a migration until the next
  /// commit (protocol-coverage.md 11.3).
  atproto::tid listed_rev;
  atproto::cid head;
  atproto::cid data;
  size_t records = 0;
  std::vector<former_home> former;
  /// Taken down by the relay alone; its host knows nothing of it.
  bool relay_takedown = false;

  /// Whether a host serves its repository.
  bool served() const noexcept {
    return status == standing::active || status == standing::tombstoned;
  }
};

/// What an account looks like at `host`, where it lives or lived. None when it
/// is not known there.
std::optional<account_view> seen_from(const account_view& x, size_t host);

/// What it looks like at the relay.
std::optional<account_view> seen_from_relay(const account_view& x);

struct expected_record {
  std::string path;
  atproto::cid id;
};

/// What every copy of an account must equal. `records` is sorted by path.
struct expected_account {
  account_view account;
  std::vector<expected_record> records;
};

/// The network's own knowledge: what its servers answer from, and what copies
/// are compared with. Accounts are numbered from 0 and never renumbered.
///
/// # Threads
/// All calls from any thread; each sees one moment of one account.
class truth {
public:
  virtual ~truth() = default;

  virtual size_t hosts() const noexcept = 0;

  virtual size_t accounts() const = 0;

  /// @pre `index < accounts()`
  virtual account_view view(size_t index) const = 0;

  virtual std::optional<size_t> find(std::string_view did) const = 0;

  virtual std::optional<size_t> find_handle(std::string_view handle) const = 0;

  /// The repository as its host serves it, in a block order of the host's own.
  virtual shared_bytes export_car(size_t index) const = 0;

  /// CAR with the proof of one record or of its absence. Empty when this
  /// network cannot make one.
  virtual bytes prove(size_t index, std::string_view path) const = 0;

  /// Records after `after` in path order, until `visit` returns false.
  virtual void visit_records(size_t index, std::string_view after,
                             const repo_tree::visitor& visit) const = 0;

  /// What a host streams. @pre `host < hosts()`
  virtual event_log& host_log(size_t host) const = 0;

  /// Null without a relay.
  virtual event_log* relay_log() const noexcept = 0;

  expected_account expected(size_t index) const;

  /// All accounts; a large list.
  std::vector<expected_account> expected() const;
};

} // namespace weir::simnet
