#pragma once

#include "actors/identity/identity_cache.hpp"
#include "actors/identity/limits.hpp"
#include "actors/identity/lookup_backoff.hpp"
#include "actors/identity/lookup_queue.hpp"
#include "actors/support/limits.hpp"
#include "messages/repo.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir::actors {

struct identity_options {
  size_t cached_max = limits::identity_cached_max;
  /// Number of DIDs that wait to be read from the store, and of DIDs that wait
  /// for a look-up at the directory. In addition did:web names have
  /// `limits::web_part` of the latter. When it is full, the youngest DID of the
  /// host with the most waiting DIDs makes room for one of another host.
  size_t waiting_max = limits::identity_waiting_max;
  size_t in_flight_max = limits::identity_in_flight_max;
  size_t failures_max = limits::lookup_failures_max; ///< How many it remembers.
  /// The most look-ups (actors.md, Who is looked up next); see `lookup_pace`.
  double per_second = limits::plc_per_second_range.standard;
  std::chrono::seconds fresh = limits::identity_fresh;
};

/// The asker of a question; the actor maps it to an address.
using waiter_id = uint64_t;

/// What `identity_machine` wants to be done.
struct identity_effects {
  /// The actor adds the number of the question.
  struct answer : identity_answer {
    waiter_id to = 0;
  };

  struct handle_check {
    atproto::did repo;
    std::string handle;
  };

  std::vector<answer> answers;
  std::vector<atproto::did> load;  ///< Read the stored rows of these.
  std::vector<atproto::did> fetch; ///< Fetch the documents of these.
  std::vector<handle_check> verify;
  std::vector<std::pair<atproto::did, storage::identity_row>> store;
  /// The exported rows of these have become their own rows.
  std::vector<atproto::did> taken;
  std::optional<steady_time> timer;
};

/// The DIDs whose documents are awaited, and by whom: whose turn each look-up
/// takes, which ones are refused, and which wait because the last one failed.
/// It reads the cache, which `identity_machine` fills, and that machine
/// completes the answers. No CAF, clock or socket; one thread.
class lookup_desk {
public:
  using effects = identity_effects;

  enum class phase : uint8_t { loading, queued, fetching };

  struct pending_ask {
    phase at = phase::loading;
    bool fresh = false;
    std::vector<waiter_id> waiters;
    /// Asked for a fresh document while an older look-up was under way.
    std::vector<waiter_id> again;
    std::string by; ///< The host of the last question.
  };

  lookup_desk(const identity_options& options, identity_cache& cache)
    : options_(options), cache_(cache),
      queue_(options.per_second, options.in_flight_max, options.waiting_max),
      backoff_(options.failures_max) {}

  static bool has(const std::vector<waiter_id>& x, waiter_id who) {
    return std::find(x.begin(), x.end(), who) != x.end();
  }

  /// Keeps one entry for a waiter, however often it asks.
  static void add_waiter(std::vector<waiter_id>& to, waiter_id who) {
    if (!has(to, who))
      to.push_back(who);
  }

  size_t waiting() const noexcept { return pending_.size(); }
  const lookup_queue& queue() const noexcept { return queue_; }
  lookup_queue& queue() noexcept { return queue_; }
  const lookup_backoff& backoff() const noexcept { return backoff_; }

  /// Null when nobody waits. Valid until the next call.
  const pending_ask* find(const atproto::did& repo) const;

  /// Whether another document for `who` follows.
  bool looked_up_later(const atproto::did& repo, waiter_id who) const;

  void ask(const atproto::did& repo, waiter_id who, bool fresh, steady_time now,
           wall_time wall, const std::string& by, effects& out);

  void on_shared(const atproto::did& repo, const std::string& by);

  /// Its row in the store was not enough.
  /// @pre it is loading
  void look_up(const atproto::did& repo, steady_time now, wall_time wall,
               effects& out);

  /// The directory limited the look-up, which decides nothing about the DID.
  /// @pre it is fetching
  void wait_again(const atproto::did& repo, steady_time now, wall_time wall,
                  effects& out);

  /// The look-up failed: those that asked meanwhile share the answer.
  /// @pre it is fetching
  /// @returns when it may be looked up again
  steady_time failed(const atproto::did& repo, const error& why,
                     steady_time now);

  /// The look-up succeeded, so its next failure is a first one.
  void succeeded(const atproto::did& repo, steady_time now) {
    backoff_.succeeded(repo, now);
  }

  /// Answers those that wait, and begins again for those that asked late.
  /// @pre it is pending
  void answer_all(const atproto::did& repo,
                  const result<storage::identity_row>& fact, steady_time now,
                  effects& out);

  bool is_served_by_export(const atproto::did& repo) const;
  std::vector<atproto::did> served_by_export() const;

  /// Starts look-ups as far as the budget and the places allow.
  void run(steady_time now, effects& out);

private:
  bool answer_failing(const atproto::did& repo,
                      const std::vector<waiter_id>& waiters, bool fresh,
                      steady_time now, effects& out);
  lookup_cause cause_of(const atproto::did& repo, bool fresh,
                        wall_time wall) const;
  std::string host_of(const atproto::did& repo, const std::string& by) const;
  void queue_fetch(const atproto::did& repo, steady_time now, wall_time wall,
                   effects& out);
  void enter(const atproto::did& repo, lookup_cause cause, steady_time now,
             effects& out);
  steady_time room_at(steady_time now) const;
  void displace(const atproto::did& repo, steady_time now, effects& out);

  identity_options options_;
  identity_cache& cache_;
  std::unordered_map<atproto::did, pending_ask> pending_;
  lookup_queue queue_;
  lookup_backoff backoff_;
};

} // namespace weir::actors
