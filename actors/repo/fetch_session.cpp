#include "actors/repo/fetch_session.hpp"

#include "actors/repo/repo_clock.hpp"

#include <algorithm>

namespace weir::actors {

using storage::account_status;
using storage::repo_status;

namespace {

/// The #identity event of a new key or host may have been lost. An unreachable
/// host is the commonest sign of a migration.
bool may_be_outdated(const repo_fetch_failed& why) {
  switch (why.reason.code) {
    case ec::verification_failed:
    case ec::unverifiable:
    case ec::not_found:
    case ec::unreachable:
      return !why.ahead.defined();
    default:
      return false;
  }
}

/// How long a fetch waits that failed because of this node, not of the repo.
std::optional<std::chrono::seconds> own_wait(const repo_fetch_failed& why,
                                             const repo_turn& t) {
  const auto retry_min = t.settings.retry_min;
  if (why.reason.code == ec::disk_full)
    return retry_min;
  if (why.ahead.defined() && is_suspect(verdict_on_clock(t.now)))
    return std::min<std::chrono::seconds>(limits::clock_refetch_wait,
                                          retry_min);
  return std::nullopt;
}

error no_host() {
  return fail(ec::not_found, "the DID document names no PDS");
}

} // namespace

void fetch_session::resume(repo_turn& t) {
  if (t.row.status != repo_status::syncing)
    return;
  sync_.leave_fetch(t);
  t.row.resync_id = 0;
  t.touch_row();
  t.lane.clear_buffer();
  t.wish_fetch(0);
}

std::optional<error> fetch_session::fail_look_up(const identity_answer& x,
                                                 repo_turn& t) {
  if (!sync_.wants_fetch(t.row))
    return std::nullopt;
  const auto why = x.fact ? no_host() : x.fact.error();
  take_failure({.reason = why}, t);
  return why;
}

void fetch_session::begin(uint64_t job, repo_turn& t) {
  if (!sync_.wants_fetch(t.row)) {
    refuse(job, t);
    return;
  }
  words_.forget();
  wait_.begin_fetch();
  if (identity_.may_be_old())
    wait_.regret(); // After the fetch, another key or host may become known.
  sync_.begin_fetch();
  buffer_.stop_draining();
  job_.begin(job, t.board().accounting_for(t.row.pds).since_reset());
  if (!identity_.key().defined()) {
    take_failure({.reason = fail(ec::unverifiable, "no usable signing key")},
                 t);
  } else if (identity_.document()->pds.empty()) {
    take_failure({.reason = no_host()}, t);
  } else {
    sync_.begin_download(job, t);
  }
}

void fetch_session::try_order(const wire::collection_filter& filter,
                              repo_turn& t) {
  if (!job_.awaits_order() || t.row.status != repo_status::syncing
      || t.lane.row_unsent() || !t.lane.chain_stands())
    return;
  const auto id = job_.order(t.settings.filter_generation);
  t.out.order = fetch_order{id,
                            identity_.host(t.row),
                            identity_.key(),
                            t.lane.chain(),
                            needed_rev::least(t.row),
                            filter};
}

void fetch_session::try_finish(repo_turn& t) {
  if (!job_.awaits_root() || t.lane.in_flight())
    return;
  const auto& root = job_.root();
  chain_.apply(root, job_.id(), t);
  completeness::on_indexed(t.row, job_.noted(), root.rev,
                           job_.filter_generation());
  if (!wait_.open() && !identity_.is_disputed()) {
    // Otherwise what the document refused may still be valid.
    wait_.settle();
    t.row.refused_by = 0;
  }
  words_.note_fetched(t);
  sync_.end_fetch(root.rev, t);
  buffer_.drain_after_fetch();
}

bool fetch_session::try_end_drain(repo_turn& t) {
  if (!buffer_.is_drained())
    return false;
  if (buffer_.drains_by_document()) {
    buffer_.stop_draining();
    sync_.end_gap(t);
    return true;
  }
  sync_.now_synced(t);
  job_.end({}, t);
  sync_.check_filter(t); // The filter may have changed meanwhile.
  return false;
}

void fetch_session::take_failure(const repo_fetch_failed& why, repo_turn& t) {
  job_.end(why.reason, t);
  t.touch_row();
  if (may_be_outdated(why))
    identity_.refresh_if_free(t);
  if (why.account && *why.account != account_status::active
      && words_.hear_refusal(*why.account, t))
    return;
  if (why.reason.code == ec::rate_limited) {
    sync_.leave_fetch(t); // This is not a failure (SYNC-13).
    t.wish_fetch(0);
  } else if (const auto wait = own_wait(why, t)) {
    sync_.leave_fetch(t);
    t.wish_fetch(t.now.wall.seconds() + wait->count());
  } else {
    sync_.retry_later(why.reason, t);
  }
}

void fetch_session::take_stale_chunk(repo_turn& t) {
  if (!job_.runs())
    return;
  sync_.leave_fetch(t);
  job_.end(fail(ec::cancelled, "the job was superseded"), t);
  t.wish_fetch(0);
}

void fetch_session::take_refused_update(const std::string& reason,
                                        repo_turn& t) {
  t.lane.take_back(t.row, t.now);
  chain_.return_to(t.lane.erases() ? nullptr : t.lane.chain().get());
  // The row's proof of completeness depended on commits that are not written.
  completeness::forget(t.row);
  t.row.last_indexed_rev = std::min(t.row.last_indexed_rev, chain_.rev());
  t.touch_row();
  if (t.row.account == account_status::active)
    take_failure({.reason = fail(ec::invalid_argument, reason)}, t);
}

} // namespace weir::actors
