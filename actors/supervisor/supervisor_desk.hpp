#pragma once

#include "actors/supervisor/supervisor.hpp"
#include "actors/supervisor/supervisor_metrics.hpp"
#include "actors/support/timer.hpp"
#include "messages/caf_types.hpp"
#include "messages/identity.hpp"
#include "messages/journal.hpp"

#include <caf/typed_event_based_actor.hpp>

namespace weir::actors {

/// What the parts of the SUPERVISOR share: its surroundings, its timer, and how
/// it sends. The SUPERVISOR owns it, and it outlives the parts.
struct supervisor_desk {
  supervisor_actor::base* self;
  supervisor_environment env;
  supervisor_metrics metrics{env.shared->metrics};
  actor_timer timer{};
  uint64_t asked = 0; ///< The number of the last question to IDENTITY.

  context& shared() const { return *env.shared; }
  upstream_board& board() const { return env.shared->upstreams; }
  supervisor_actor sink() const { return supervisor_actor{self}; }
  steady_time now() const { return env.shared->time->steady_now(); }
  wall_time wall() const { return env.shared->time->wall_now(); }

  const router_actor& router_of(const atproto::did& repo) const {
    return env.shared->router_of(repo);
  }

  /// Sends to the REPO, by way of its ROUTER.
  template <class T>
  void tell(const atproto::did& repo, T&& x) {
    self->send(router_of(repo), std::forward<T>(x));
  }

  /// The URL for readers of the log, as in the lines of UPSTREAM.
  std::string url_of(uint32_t upstream) const {
    return board().find(upstream).origin;
  }

  /// The origin of a PDS; empty for a relay.
  std::string host_of(uint32_t upstream) const {
    const auto from = board().find(upstream);
    return from.relay ? std::string{} : from.origin;
  }

  void arm(const std::optional<steady_time>& at) {
    if (at)
      timer.arm(self, now(), *at);
  }

  /// The same for work whose next step may already be due: that step is taken
  /// when something else ends.
  void arm_later(const std::optional<steady_time>& at) {
    if (at && *at > now())
      arm(at);
  }

  /// Has a READER read rows of any partition.
  void read(std::function<void(store_readers&)> job) {
    self->send(env.shared->root().reader_of(0), reader_job{std::move(job)});
  }

  /// @param by Whose turn the look-up takes; empty: that of the account's host.
  void ask_identity(const atproto::did& repo, bool fresh, std::string by) {
    self->send(env.shared->identity,
               identity_ask{repo, fresh, ++asked, std::move(by)},
               identity_sink{sink()});
  }
};

} // namespace weir::actors
