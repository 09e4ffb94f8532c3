#include "actors/repo/repo_life.hpp"

#include "actors/repo/needed_rev.hpp"

#include <utility>

namespace weir::actors {

using storage::repo_status;

void repo_life::load(storage::repo_state x, repo_turn& t) {
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

bool repo_life::add(add_repos what, repo_turn& t) {
  if (exists_) {
    const auto changed = kept_.change(what.collections, t);
    if (changed && t.row.status != repo_status::pending)
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

void repo_life::begin(add_repos what, repo_turn& t) {
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

/// Processes what events reported that were finished before the repo was
/// tracked. The row records it, so that it survives a crash. The rev is not
/// proved, so it counts like a listed one.
void repo_life::hear_missed(const add_repos& what, repo_turn& t) {
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

bool repo_life::remove(repo_turn& t) {
  if (!exists_ && !queued_)
    return false;
  if (queued_)
    queued_.reset();
  else
    end(t);
  inbox_.settle_all(t);
  return true;
}

void repo_life::end(repo_turn& t) {
  exists_ = false;
  removing_ = true;
  sync_.end_life(t);
  account_.end_life();
  t.lane.remove();
}

void repo_life::end_removal(repo_turn& t) {
  removing_ = false;
  if (queued_)
    begin(std::move(*std::exchange(queued_, nullptr)), t);
  else
    t.out.removed = true;
}

} // namespace weir::actors
