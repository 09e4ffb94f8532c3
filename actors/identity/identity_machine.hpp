#pragma once

#include "actors/identity/limits.hpp"
#include "actors/identity/lookup_backoff.hpp"
#include "actors/identity/lookup_queue.hpp"
#include "actors/support/limits.hpp"
#include "atproto/did_document.hpp"
#include "base/clock.hpp"
#include "storage/format/records.hpp"

#include <chrono>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

namespace weir::actors {

struct identity_options {
  size_t cached_max = limits::identity_cached_max;
  /// DIDs to be read from the store, and DIDs to be looked up at the directory;
  /// did:web names have `limits::web_part` of as many beside those. Of the host
  /// that has most of them the youngest leaves for one of another.
  size_t waiting_max = limits::identity_waiting_max;
  size_t in_flight_max = limits::identity_in_flight_max;
  size_t failures_max = limits::lookup_failures_max; ///< Remembered.
  /// Look-up budget (actors.md, Who is looked up next); the directory's answers
  /// say how much of it is spent.
  double per_second = limits::plc_per_second_range.standard;
  std::chrono::seconds fresh = limits::identity_fresh;
};

/// Who asked; the shell maps it to an actor.
using waiter_id = uint64_t;

/// DID to key, host and handle (protocol-coverage.md 8): cache, coalescing,
/// budget; no CAF, clock or socket.
///
/// An answer comes as soon as the document is there, with the handle verified
/// before; when that was verified anew, the waiters hear a second time.
/// A row past its freshness is given out at once and looked up behind it.
class identity_machine {
public:
  struct answer {
    waiter_id to = 0;
    atproto::did repo;
    result<storage::identity_row> fact;
    bool last = true; ///< No second answer will come.
    /// No newer document will: a second answer is of its handle only.
    bool settled = true;
    /// Of a failure: asked before, it fails again without a look-up.
    steady_time not_before{};
    bool checked = true; ///< False when nobody could tell whose handle it is.
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
    /// What the directory's export said of these has become their rows.
    std::vector<atproto::did> taken;
    std::optional<steady_time> timer;
  };

  explicit identity_machine(identity_options options);

  /// @param who One number for one asker and repo, however often it asks.
  /// @param fresh Resolve anew even when the cache has an answer.
  /// @param by Whose turn it takes; empty: that of the account's host.
  effects on_ask(const atproto::did& repo, waiter_id who, bool fresh,
                 steady_time now, wall_time wall, const std::string& by = {});

  /// Somebody else wants what was asked for, too.
  void on_shared(const atproto::did& repo, const std::string& by);

  /// @param exported What the directory's export says of it, and since when:
  /// as good as a look-up at that time, where nothing else is known.
  effects on_loaded(const atproto::did& repo,
                    std::optional<storage::identity_row> row, steady_time now,
                    wall_time wall,
                    std::optional<storage::identity_row> exported = {});

  /// Who waits for a look-up at the directory, and could do with what its
  /// export says: `on_loaded` takes it while they wait.
  std::vector<atproto::did> served_by_export() const;

  /// The directory is asked for something else, within the same budget.
  void spend(steady_time now) noexcept {
    queue_.spend(now);
  }

  /// `ec::not_found` = tombstoned or not registered (`gone` tells which).
  /// @param limited The server answered 429, and asks for this pause. At the
  ///        directory this is no failure: the look-up waits for its turn again.
  effects on_document(const atproto::did& repo,
                      const result<atproto::did_document>& doc, bool gone,
                      steady_time now, wall_time wall,
                      std::optional<std::chrono::seconds> limited = {});

  /// The DID that the handle resolves to; an error keeps the last answer when
  /// it is transient (`ec::unreachable`), else clears it.
  effects on_handle(const atproto::did& repo, const std::string& handle,
                    const result<atproto::did>& owner, wall_time wall);

  effects on_timer(steady_time now);

  /// The directory limits us, whatever it was asked for.
  void rest_directory(std::chrono::seconds asked, steady_time now) noexcept {
    queue_.rest_directory(asked, now);
  }

  /// The directory limits us: nothing is asked of it yet, for nobody.
  bool directory_rests(steady_time now) const noexcept {
    return queue_.directory_rests(now);
  }

  /// Until then; no time: it did not limit us yet.
  std::optional<steady_time> directory_rests_until() const noexcept {
    return queue_.directory_rests_until();
  }

  /// Look-ups a second that the directory gets at the moment.
  double lookups_per_second() const noexcept {
    return queue_.per_second();
  }

  size_t waiting() const noexcept {
    return pending_.size();
  }

  size_t cached() const noexcept {
    return cache_.size();
  }

  /// Hosts for which look-ups wait.
  size_t hosts() const noexcept {
    return queue_.hosts();
  }

  /// Memory that all of it holds, about.
  size_t bytes() const noexcept {
    return (cached() + waiting() + hosts())
             * limits::identity_entry_bytes
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
    /// Asked for a fresh one while an older look-up was on its way.
    std::vector<waiter_id> again;
    std::string by; ///< Who asked last.
  };

  /// Who hears of a handle when it was checked. A document that came meanwhile
  /// has a check of its own.
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
  bool answer_known(const atproto::did& repo, waiter_id who, steady_time now,
                    wall_time wall, effects& out);
  bool told_later(const atproto::did& repo, waiter_id who) const;
  bool looked_up_later(const atproto::did& repo, waiter_id who) const;
  effects told(effects x) const;
  static void add_waiter(std::vector<waiter_id>& to, waiter_id who);
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
