#pragma once

#include "atproto/cid.hpp"
#include "atproto/identifiers.hpp"
#include "simnet/event_log.hpp"
#include "simnet/repo_tree.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::simnet {

/// Status of an account at its host. The directory alone knows of `tombstoned`.
enum class standing : uint8_t {
  active,
  deactivated,
  suspended,
  takendown,
  deleted,
  tombstoned
};

/// The word of the protocol; null for `active` and `tombstoned`, for which a
/// host gives no status.
const char* status_word(standing x) noexcept;

/// Name for people and for JSON.
const char* to_string(standing x) noexcept;

/// A host where an account lived before it moved, and the state it was left in.
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
  std::string signing_key; ///< As Multikey text.
  size_t host = 0;
  standing status = standing::active;
  atproto::tid rev; ///< Rev of the last signed commit.
  /// The rev that the host claims. After a migration it is ahead of `rev` until
  /// the next commit, as on real servers (protocol-coverage.md 11.3).
  atproto::tid listed_rev;
  atproto::cid head;
  atproto::cid data;
  size_t records = 0;
  std::vector<former_home> former;
  /// Taken down only by the relay; its host does not know of it.
  bool relay_takedown = false;

  /// Whether a host serves its repository.
  bool served() const noexcept {
    return status == standing::active || status == standing::tombstoned;
  }
};

/// How an account appears at `host`, where it lives or lived. Nothing when it
/// is unknown there.
std::optional<account_view> seen_from(const account_view& x, size_t host);

/// How an account appears at the relay.
std::optional<account_view> seen_from_relay(const account_view& x);

struct expected_record {
  std::string path;
  atproto::cid id;
};

/// What every copy of an account must be equal to. `records` is sorted by path.
struct expected_account {
  account_view account;
  std::vector<expected_record> records;
};

/// The true state of the network. Its servers answer from it, and copies are
/// compared with it. Accounts are numbered from 0 and never renumbered.
///
/// # Threads
/// All calls are safe from any thread. Each sees one account at one moment.
class truth {
public:
  virtual ~truth() = default;

  size_t hosts() const noexcept { return host_logs_.size(); }

  virtual size_t accounts() const = 0;

  /// @pre `index < accounts()`
  virtual account_view view(size_t index) const = 0;

  virtual std::optional<size_t> find(std::string_view did) const = 0;

  virtual std::optional<size_t> find_handle(std::string_view handle) const = 0;

  /// The repository as its host serves it, with that host's order of blocks.
  virtual shared_bytes export_car(size_t index) const = 0;

  /// A CAR that proves one record or its absence. Empty when this network
  /// cannot make one.
  virtual bytes prove(size_t index, std::string_view path) const = 0;

  /// Visits records after `after` in path order, until `visit` returns false.
  virtual void visit_records(size_t index, std::string_view after,
                             const repo_tree::visitor& visit) const = 0;

  /// The stream of a host. @pre `host < hosts()`
  event_log& host_log(size_t host) const { return *host_logs_[host]; }

  /// Null without a relay.
  event_log* relay_log() const noexcept { return relay_log_.get(); }

  expected_account expected(size_t index) const;

  /// All accounts; a large list.
  std::vector<expected_account> expected() const;

protected:
  /// Makes the streams of the hosts, and of the relay if there is one.
  truth(size_t hosts, bool relay, window_options window);

private:
  std::vector<std::unique_ptr<event_log>> host_logs_;
  std::unique_ptr<event_log> relay_log_;
};

} // namespace weir::simnet
