#pragma once

#include "actors/identity/lookup_desk.hpp"
#include "atproto/did_document.hpp"

#include <optional>
#include <unordered_map>
#include <vector>

namespace weir::actors {

/// Looks up key, host and handle of DIDs (protocol-coverage.md 8): cache,
/// joined questions, budget. No CAF, clock or socket.
///
/// An answer is given as soon as the document arrives, with the handle that was
/// verified before, and a second one when the handle was verified anew. A row
/// that is no longer fresh is given out at once and looked up behind it.
class identity_machine {
public:
  using effects = identity_effects;
  using answer = effects::answer;

  explicit identity_machine(identity_options options);

  /// @param who One number for one asker and repo, however often it asks.
  /// @param fresh Look up anew even when the cache has an answer.
  /// @param by The host whose turn it takes; empty: the account's own.
  effects on_ask(const atproto::did& repo, waiter_id who, bool fresh,
                 steady_time now, wall_time wall, const std::string& by = {});

  /// Another host also needs the look-up that was requested.
  void on_shared(const atproto::did& repo, const std::string& by) {
    desk_.on_shared(repo, by);
  }

  /// @param exported The row from the directory's export, with its time. If
  /// nothing else is known, it counts like a look-up at that time.
  effects on_loaded(const atproto::did& repo,
                    std::optional<storage::identity_row> row, steady_time now,
                    wall_time wall,
                    std::optional<storage::identity_row> exported = {});

  /// DIDs that wait for a look-up at the directory and could be served by the
  /// export. `on_loaded` takes an exported row while they wait.
  std::vector<atproto::did> served_by_export() const {
    return desk_.served_by_export();
  }

  /// A probe is sent at once, even after failures, unless we are limited. The
  /// next look-up makes up for it.
  effects on_probe(const atproto::did& repo, steady_time now) {
    effects out;
    if (!directory_pace().rests(now)) {
      desk_.queue().spend_probe(now);
      out.fetch.push_back(repo);
    }
    return out;
  }

  /// Counts another request to the directory against the same budget.
  void spend(steady_time now) noexcept { desk_.queue().spend(now); }

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
                    const result<atproto::did>& owner);

  effects on_timer(steady_time now);

  /// The directory answered 429 to some request.
  void rest_directory(std::chrono::seconds asked, steady_time now) noexcept {
    desk_.queue().rest_directory(asked, now);
  }

  /// How many look-ups the directory gets.
  const lookup_pace& directory_pace() const noexcept {
    return desk_.queue().pace();
  }

  size_t waiting() const noexcept { return desk_.waiting(); }

  size_t cached() const noexcept { return cache_.size(); }

  /// Hosts for which look-ups wait.
  size_t hosts() const noexcept { return desk_.queue().hosts(); }

  /// @returns about how much memory all of this takes.
  size_t bytes() const noexcept {
    return (cached() + waiting() + hosts()) * limits::identity_entry_bytes
           + desk_.backoff().size() * limits::lookup_failure_bytes;
  }

private:
  /// Who gets an answer when a handle was checked. Each document has its check.
  struct handle_wait {
    size_t checks = 0; ///< Number of checks in flight.
    std::vector<waiter_id> waiters;
  };

  bool answer_known(const atproto::did& repo, waiter_id who, steady_time now,
                    wall_time wall, effects& out);
  void take_failure(const atproto::did& repo, const error& why, steady_time now,
                    wall_time wall, effects& out);
  void take_document(const atproto::did& repo, storage::identity_row row,
                     int64_t at, steady_time now, effects& out);
  void take_owner(const atproto::did& repo, const result<atproto::did>& owner,
                  effects& out);
  effects completed(effects x) const;

  identity_options options_;
  identity_cache cache_;
  lookup_desk desk_;
  std::unordered_map<atproto::did, handle_wait> checking_;
};

} // namespace weir::actors
