#pragma once

#include "actors/repo/fetch_session.hpp"

#include <memory>
#include <optional>

namespace weir::actors {

/// Whether a repo is tracked (SYNC-29, SYNC-30), and what its parts do when
/// tracking begins or ends. A removed repo stays tracked until its row is gone
/// from the disk, because a removal that fails leaves the row there. An
/// addition that comes during a removal waits for its end.
class repo_life {
public:
  repo_life(repo_inbox& inbox, kept_collections& kept, repo_chain& chain,
            identity_view& identity, sync_state& sync, account_rules& account,
            host_words& words, fetch_session& fetch) noexcept
    : inbox_(inbox), kept_(kept), chain_(chain), identity_(identity),
      sync_(sync), account_(account), words_(words), fetch_(fetch) {}

  /// Called when the rows are loaded: continues where the last life ended.
  void load(storage::repo_state x, repo_turn& t);

  bool loaded() const noexcept { return loaded_; }

  /// The repo is loaded and tracked, and no removal was decided.
  bool lives() const noexcept { return exists_; }

  bool removing() const noexcept { return removing_; }

  /// The repo will be added again as soon as its removal is durable.
  bool is_queued() const noexcept { return queued_ != nullptr; }

  /// @returns whether that changed anything.
  bool add(add_repos what, repo_turn& t);
  bool remove(repo_turn& t);

  /// The row is gone: the repo ends, or its next life begins.
  void end_removal(repo_turn& t);

private:
  void begin(add_repos what, repo_turn& t);
  void hear_missed(const add_repos& what, repo_turn& t);
  void end(repo_turn& t);

  repo_inbox& inbox_;
  kept_collections& kept_;
  repo_chain& chain_;
  identity_view& identity_;
  sync_state& sync_;
  account_rules& account_;
  host_words& words_;
  fetch_session& fetch_;
  bool loaded_ = false;
  bool exists_ = false;
  bool removing_ = false;
  std::unique_ptr<add_repos> queued_; ///< Rarely: it keeps a REPO small.
};

} // namespace weir::actors
