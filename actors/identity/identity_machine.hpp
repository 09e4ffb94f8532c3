#pragma once

#include "actors/identity/limits.hpp"
#include "actors/identity/lookup_backoff.hpp"
#include "actors/identity/lookup_queue.hpp"
#include "actors/support/limits.hpp"
#include "atproto/did_document.hpp"
#include "base/clock.hpp"
#include "messages/repo.hpp"
#include "storage/format/records.hpp"

#include <algorithm>
#include <chrono>
#include <list>
#include <optional>
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
  size_t failures_max = limits::lookup_failures_max; ///< Remembered.
  /// The most look-ups (actors.md, Who is looked up next); see `lookup_pace`.
  double per_second = limits::plc_per_second_range.standard;
  std::chrono::seconds fresh = limits::identity_fresh;
};

/// The asker of a question; the actor maps it to an address.
using waiter_id = uint64_t;

/// Looks up key, host and handle of DIDs (protocol-coverage.md 8): cache,
/// joined questions, budget. No CAF, clock or socket.
///
/// An answer is given as soon as the document arrives, with the handle that was
/// verified before, and a second one when the handle was verified anew. A row
/// that is no longer fresh is given out at once and looked up behind it.
class identity_machine {
public:
  /// The actor adds the number of the question.
  struct answer : identity_answer {
    waiter_id to = 0;
  };

  struct handle_check {
    atproto::did repo;
    std::string handle;
  };

  struct effects {
    std::vector<answer> answers;
    std::vector<atproto::did> load;  ///< Read the stored rows of these.
    std::vector<atproto::did> fetch; ///< Fetch the documents of these.
    std::vector<handle_check> verify;
    std::vector<std::pair<atproto::did, storage::identity_row>> store;
    /// The exported rows of these have become their own rows.
    std::vector<atproto::did> taken;
    std::optional<steady_time> timer;
  };

  explicit identity_machine(identity_options options);

  /// @param who One number for one asker and repo, however often it asks.
  /// @param fresh Look up anew even when the cache has an answer.
  /// @param by The host whose turn it takes; empty: the account's own.
  effects on_ask(const atproto::did& repo, waiter_id who, bool fresh,
                 steady_time now, wall_time wall, const std::string& by = {});

  /// Another host also needs the look-up that was requested.
  void on_shared(const atproto::did& repo, const std::string& by);

  /// @param exported The row from the directory's export, with its time. If
  /// nothing else is known, it counts like a look-up at that time.
  effects on_loaded(const atproto::did& repo,
                    std::optional<storage::identity_row> row, steady_time now,
                    wall_time wall,
                    std::optional<storage::identity_row> exported = {});

  /// DIDs that wait for a look-up at the directory and could be served by the
  /// export. `on_loaded` takes an exported row while they wait.
  std::vector<atproto::did> served_by_export() const;

  /// Counts another request to the directory against the same budget.
  void spend(steady_time now) noexcept { queue_.spend(now); }

  /// `ec::not_found` = tombstoned or not registered (`gone` tells which).
  /// @param limited The server answered 429 and asks for this pause. At the
  /// directory this is no failure: the look-up waits for its turn again.
  effects on_document(const atproto::did& repo,
                      const result<atproto::did_document>& doc, bool gone,
                      steady_time now, wall_time wall,
                      std::optional<std::chrono::seconds> limited = {});

  /// The DID that the handle resolves to. A transient error (`ec::unreachable`)
  /// keeps the last handle; any other error clears it.
  effects on_handle(const atproto::did& repo, const std::string& handle,
                    const result<atproto::did>& owner, wall_time wall);

  effects on_timer(steady_time now);

  /// The directory answered 429 to some request.
  void rest_directory(std::chrono::seconds asked, steady_time now) noexcept {
    queue_.rest_directory(asked, now);
  }

  /// How many look-ups the directory gets.
  const lookup_pace& directory_pace() const noexcept { return queue_.pace(); }

  size_t waiting() const noexcept { return pending_.size(); }

  size_t cached() const noexcept { return cache_.size(); }

  /// Hosts for which look-ups wait.
  size_t hosts() const noexcept { return queue_.hosts(); }

  /// About how much memory all of this takes.
  size_t bytes() const noexcept {
    return (cached() + waiting() + hosts()) * limits::identity_entry_bytes
           + backoff_.size() * limits::lookup_failure_bytes;
  }

private:
  struct cached_row {
    std::optional<storage::identity_row> row;
    std::optional<error> failure;
    int64_t at = 0; ///< Unix seconds.
    std::list<atproto::did>::iterator lru;
  };

  enum class phase : uint8_t { loading, queued, fetching };

  struct pending_ask {
    phase at = phase::loading;
    bool fresh = false;
    std::vector<waiter_id> waiters;
    /// Asked for a fresh document while an older look-up was under way.
    std::vector<waiter_id> again;
    std::string by; ///< The host of the last question.
  };

  /// Who gets an answer when a handle was checked. Each document has its check.
  struct handle_wait {
    size_t checks = 0; ///< In flight.
    std::vector<waiter_id> waiters;
  };

  const cached_row* find(const atproto::did& repo);
  void remember(const atproto::did& repo,
                std::optional<storage::identity_row> row,
                std::optional<error> failure, wall_time wall);
  bool is_served_by_export(const atproto::did& repo) const;
  void take_exported(const atproto::did& repo, storage::identity_row row,
                     steady_time now, effects& out);
  void take_document(const atproto::did& repo, storage::identity_row row,
                     wall_time at, steady_time now, effects& out);
  void take_owner(const atproto::did& repo, const cached_row& known,
                  const result<atproto::did>& owner, wall_time wall,
                  effects& out);
  static bool has(const std::vector<waiter_id>& x, waiter_id who) {
    return std::find(x.begin(), x.end(), who) != x.end();
  }
  /// Keeps one entry for a waiter, however often it asks.
  static void add_waiter(std::vector<waiter_id>& to, waiter_id who) {
    if (!has(to, who))
      to.push_back(who);
  }
  bool answer_known(const atproto::did& repo, waiter_id who, steady_time now,
                    wall_time wall, effects& out);
  bool told_later(const atproto::did& repo, waiter_id who) const;
  bool looked_up_later(const atproto::did& repo, waiter_id who) const;
  effects told(effects x) const;
  void answer_all(const atproto::did& repo,
                  const result<storage::identity_row>& fact, bool last,
                  steady_time now, effects& out);
  bool answer_failing(const atproto::did& repo,
                      const std::vector<waiter_id>& waiters, bool fresh,
                      steady_time now, effects& out);
  lookup_cause cause_of(const atproto::did& repo, bool fresh,
                        wall_time wall) const;
  std::string host_of(const atproto::did& repo, const std::string& by) const;
  void queue_fetch(const atproto::did& repo, effects& out, steady_time now,
                   wall_time wall);
  void wait_again(const atproto::did& repo, effects& out, steady_time now,
                  wall_time wall);
  void enter(const atproto::did& repo, lookup_cause cause, steady_time now,
             effects& out);
  steady_time room_at(steady_time now) const;
  void put_off(const atproto::did& repo, const std::vector<waiter_id>& waiters,
               const result<storage::identity_row>& fact,
               steady_time not_before, effects& out) const;
  void displace(const atproto::did& repo, steady_time now, effects& out);
  void refuse(const atproto::did& repo, const std::vector<waiter_id>& waiters,
              steady_time not_before, effects& out);
  void run(effects& out, steady_time now);

  identity_options options_;
  std::unordered_map<atproto::did, cached_row> cache_;
  std::list<atproto::did> lru_;
  std::unordered_map<atproto::did, pending_ask> pending_;
  lookup_queue queue_;
  lookup_backoff backoff_;
  std::unordered_map<atproto::did, handle_wait> checking_;
};

} // namespace weir::actors
