#pragma once

#include "actors/repo/fetch_session.hpp"

#include <memory>
#include <optional>
#include <utility>

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
  void load(storage::repo_state x, repo_turn& t) {
    loaded_ = true;
    exists_ = x.row.has_value();
    if (!exists_) { // An addition may wait: frames are decided after it.
      t.lane.on_loaded(std::nullopt, std::move(x.chain));
      return;
    }
    t.row = std::move(*x.row);
    if (x.member)
      kept_.set(*x.member);
    chain_.return_to(x.chain.get());
    t.lane.on_loaded(t.row.status, std::move(x.chain));
    fetch_.resume(t);
    identity_.resume(t);
    sync_.resume(t);
    account_.resume(t);
    sync_.check_filter(t);
  }

  bool loaded() const noexcept { return loaded_; }

  /// The repo is loaded and tracked, and no removal was decided.
  bool lives() const noexcept { return exists_; }

  bool removing() const noexcept { return removing_; }

  /// The repo will be added again as soon as its removal is durable.
  bool is_queued() const noexcept { return queued_ != nullptr; }

  /// @returns whether that changed anything.
  bool add(add_repos what, repo_turn& t) {
    if (exists_) {
      const auto changed = kept_.change(what.collections, t);
      if (changed && t.row.status != storage::repo_status::pending)
        sync_.desync("its collections changed", t);
      hear_missed(what, t);
      return changed;
    }
    if (!loaded_ || queued_)
      return false;
    if (removing_)
      // The old row must be removed first.
      queued_ = std::make_unique<add_repos>(std::move(what));
    else
      begin(std::move(what), t);
    return true;
  }

  bool remove(repo_turn& t) {
    if (!exists_ && !queued_)
      return false;
    if (queued_)
      queued_.reset();
    else
      end(t);
    inbox_.settle_all(t);
    return true;
  }

  /// The row is gone: the repo ends, or its next life begins.
  void end_removal(repo_turn& t) {
    removing_ = false;
    if (queued_)
      begin(std::move(*std::exchange(queued_, nullptr)), t);
    else
      t.out.removed = true;
  }

private:
  void begin(add_repos what, repo_turn& t) {
    exists_ = true;
    t.row = {};
    t.lane.begin_life();
    t.touch_row();
    account_.begin_life();
    words_.forget();
    identity_.begin_life();
    kept_.begin_life(std::move(what.collections), t);
    t.wish_fetch(0);
    hear_missed(what, t);
    identity_.ask(t);
  }

  /// Processes events that were finished before the repo was tracked; the row
  /// records them. The rev is not proved: it counts like a listed one.
  void hear_missed(const add_repos& what, repo_turn& t) {
    if (what.least > chain_.rev()) {
      needed_rev::require(t.row, what.least, false);
      t.touch_row();
      sync_.open_gap(t);
    }
    if (!what.look_up)
      return;
    identity_.expect_change(t);
    identity_.try_refresh(t);
  }

  void end(repo_turn& t) {
    exists_ = false;
    removing_ = true;
    sync_.end_life(t);
    account_.end_life();
    t.lane.remove();
  }

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
  std::unique_ptr<add_repos> queued_; ///< Rarely set; a pointer saves memory.
};

} // namespace weir::actors
