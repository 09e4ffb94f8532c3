#pragma once

#include "actors/support/health_machine.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/token_bucket.hpp"
#include "net/http_server.hpp"
#include "storage/format/records.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace weir::actors {

/// Clients that wait for a look-up of `/resolve`. The node needs its look-ups
/// for the repos that it follows, so clients have a share: a number a second
/// and a number at the same time. Further clients get 429 at once. All clients
/// that ask for one DID share one look-up. No CAF, no clock, no I/O.
class client_lookups {
public:
  using answer = std::function<void(net::http_reply)>;

  /// @param per_second Look-ups a second of the whole node.
  explicit client_lookups(double per_second);

  /// Returns true when IDENTITY must be asked.
  bool add(const atproto::did& repo, answer to, steady_time now);

  /// Takes an answer of IDENTITY. An old row with more to come is no answer.
  void on_fact(const atproto::did& repo,
               const result<storage::identity_row>& fact, bool last,
               wall_time wall);

  /// Answers clients that have waited too long.
  void on_timer(steady_time now);

  /// Drops all clients.
  void clear() { waiting_.clear(); }

  size_t clients() const noexcept { return clients_; }

  /// When `on_timer` must be called.
  std::optional<steady_time> due() const;

private:
  struct wait {
    std::vector<answer> clients;
    steady_time until;
  };

  void answer_all(const atproto::did& repo, const net::http_reply& reply);

  std::map<atproto::did, wait> waiting_;
  size_t clients_ = 0;
  token_bucket budget_;
};

/// An answer of IDENTITY, for clients: when the directory is misconfigured or
/// lost its documents, its answer decides nothing about a DID.
result<storage::identity_row>
fact_of(const result<storage::identity_row>& said,
        const std::vector<health_finding>& causes);

/// Whether a row was read recently enough to be given out.
bool is_fresh(const storage::identity_row& row, wall_time wall);

} // namespace weir::actors
