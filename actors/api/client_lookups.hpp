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
/// for the repos it follows, so clients have a share of them: so many a second
/// and so many at a time; who comes beyond that is answered 429 at once. All
/// who ask for one DID share one look-up. No CAF, no clock, no I/O.
class client_lookups {
public:
  using answer = std::function<void(net::http_reply)>;

  /// @param per_second Of all look-ups of the node.
  explicit client_lookups(double per_second);

  /// True when IDENTITY has to be asked.
  bool add(const atproto::did& repo, answer to, steady_time now);

  /// What IDENTITY says. An old row with more to come is no answer.
  void on_fact(const atproto::did& repo,
               const result<storage::identity_row>& fact, bool last,
               wall_time wall);

  /// Lets go of those who waited too long.
  void on_timer(steady_time now);

  /// Nobody is answered any more.
  void clear() { waiting_.clear(); }

  /// When `on_timer` has something to do.
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

/// What IDENTITY said, for clients: a directory that is not right, as one that is
/// none, or lost its documents, says nothing of a DID.
result<storage::identity_row>
fact_of(const result<storage::identity_row>& said,
        const std::vector<health_finding>& causes);

/// True when a row was read so lately that it may be given out.
bool is_fresh(const storage::identity_row& row, wall_time wall);

} // namespace weir::actors
