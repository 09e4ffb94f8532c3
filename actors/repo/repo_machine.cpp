#include "actors/repo/repo_machine.hpp"

#include "actors/support/limits.hpp"

#include <utility>

namespace weir::actors {

using storage::account_status;
using storage::repo_status;
using storage::update_outcome;

repo_machine::repo_machine(atproto::did repo, repo_settings_ptr settings,
                           uint64_t incarnation)
  : settings_(std::move(settings)), lane_(std::move(repo), incarnation) {}

/// Turns one event into one turn, and at its end sends what was decided.
template <class Rules>
repo_effects repo_machine::take_turn(now_time now, Rules rules) {
  repo_effects out;
  repo_turn t{now, *settings_, row_, lane_, out};
  rules(t);
  flush(t);
  if (job_.awaits_order() && !out.stop)
    fetch_.try_order(kept_.filter(t.settings), t);
  return out;
}

/// Like `take_turn`, for an event that only matters while the repo is tracked.
template <class Rules>
repo_effects repo_machine::when_alive(now_time now, Rules rules) {
  return life_.lives() ? take_turn(now, rules) : repo_effects{};
}

/// Like `when_alive`, for an event that only matters while this fetch runs.
template <class Rules>
repo_effects repo_machine::when_runs(uint64_t job, now_time now, Rules rules) {
  return job_.is(job) ? take_turn(now, rules) : repo_effects{};
}

// -- it wakes -----------------------------------------------------------------

repo_effects repo_machine::on_loaded(storage::repo_state x, now_time now) {
  return take_turn(now, [&](repo_turn& t) {
    life_.load(std::move(x), t);
  });
}

repo_effects repo_machine::on_awake(now_time now) {
  return take_turn(now, [this](repo_turn& t) {
    if (life_.lives() && account_sources::has_strangers(row_.words, t.board()))
      account_.forget_strangers(t);
    pump(t);
  });
}

// -- the stream ---------------------------------------------------------------

repo_effects repo_machine::on_frames(std::vector<atproto::stamped_frame> frames,
                                     now_time now) {
  return take_turn(now, [&](repo_turn& t) {
    inbox_.push(std::move(frames), now.steady);
    if (life_.loaded())
      pump(t);
  });
}

/// Takes waiting frames until one has to wait.
void repo_machine::pump(repo_turn& t) {
  inbox_.begin_turn();
  while (!inbox_.empty() && !inbox_.is_tired() && may_take()
         && frames_.take(inbox_.front(), t) == frame_step::taken)
    inbox_.pop();
  if (!inbox_.empty() && inbox_.is_tired())
    t.arm(t.now.steady); // It goes on after other actors had their turn.
  if (!life_.lives() && !life_.is_queued())
    inbox_.settle_all(t);
  buffer_.read(t);
  if (fetch_.try_end_drain(t) && !inbox_.empty())
    t.arm(t.now.steady);
}

bool repo_machine::may_take() const noexcept {
  const auto older_are_on_disk
    = buffer_.drains_disk() && !inbox_.begins_buffered();
  return life_.lives() && !lane_.full() && !older_are_on_disk;
}

/// Sends what was decided; if nothing was, the next part of a fetch.
void repo_machine::flush(repo_turn& t) {
  if (t.out.stop || !lane_.free(t.out))
    return;
  if (lane_.unsent())
    lane_.send(row_, t.out);
  else if (auto chunk = job_.take_chunk())
    lane_.send_chunk(std::move(*chunk), t.out);
}

repo_effects repo_machine::on_timer(now_time now) {
  return when_alive(now, [&](repo_turn& t) {
    identity_.try_refresh(t);
    sync_.attend_gap(t);
    question_.ask(t);
    if (wait_bytes() != waiting_bytes{}) // The owner checks this at each event.
      t.arm(now.steady + limits::document_wait_check_interval);
    proof_.attend_listing(t);
    frames_.give_way(t);
    pump(t);
  });
}

repo_effects repo_machine::on_no_room(now_time now) {
  return take_turn(now, [this](repo_turn& t) {
    if (gate_.make_room(t) && !inbox_.empty())
      t.arm(t.now.steady);
  });
}

// -- the identity -------------------------------------------------------------

repo_effects repo_machine::on_identity(const identity_answer& x, now_time now) {
  return take_turn(now, [&](repo_turn& t) {
    const auto heard = identity_.hear(x);
    if (!life_.lives())
      return;
    take_identity(x, heard, t);
    pump(t);
  });
}

/// Passes an answer of IDENTITY to the parts, in the order that they need.
void repo_machine::take_identity(const identity_answer& x,
                                 const identity_view::standing& heard,
                                 repo_turn& t) {
  if (x.fact) {
    take_document(x, heard, t);
    return;
  }
  if (identity_.take_failure(x, t))
    gate_.give_up(t);
  identity_.go_on_wanting(x, heard.last, words_.waits(), t);
  fetch_.go_on_without_document(x.fact.error(), t);
}

void repo_machine::take_document(const identity_answer& x,
                                 const identity_view::standing& heard,
                                 repo_turn& t) {
  const auto differs = identity_.learn(*x.fact, heard.last, t);
  if (differs.host)
    fetch_.move(differs.moved, t);
  account_.hear_directory(*x.fact, t);
  if (differs.key_or_host) {
    sync_.take_new_identity(t);
    if (!x.fact->tombstoned) // A tombstone may be wrong as well.
      identity_.end_dispute();
  }
  identity_.plan_next(x, heard.last, differs.had_handle, t);
  words_.hear_document(x, t);
  if (identity_.ends_wait(heard, t))
    gate_.open(t);
  if (heard.last)
    identity_.end_look_up(t);
  question_.ask(t);
  identity_.try_refresh(t);
  fetch_.go_on(t);
}

/// Takes the answer that SUPERVISOR received when it looked for a host.
void repo_machine::adopt_identity(identity_answer x, repo_turn& t) {
  if (identity_.adopt(x, t))
    take_identity(x, identity_.hear(x), t);
}

// -- listings, the host, the census -------------------------------------------

repo_effects repo_machine::on_listed(const repo_listed& x, now_time now) {
  return when_alive(now, [&](repo_turn& t) {
    proof_.hear_listing(x, t);
  });
}

repo_effects repo_machine::on_host_answer(const account_said& x, now_time now) {
  return when_alive(now, [&](repo_turn& t) {
    words_.hear_answer(x, t);
  });
}

repo_effects repo_machine::on_host_unasked(const account_unasked& x,
                                           now_time now) {
  return when_alive(now, [&](repo_turn& t) {
    question_.put_off(x, t);
  });
}

repo_effects repo_machine::on_incomplete(const repo_incomplete& x,
                                         now_time now) {
  return when_alive(now, [&](repo_turn& t) {
    proof_.hear_census(x, t);
  });
}

// -- updates ------------------------------------------------------------------

repo_effects repo_machine::on_receipt(const storage::update_receipt& receipt,
                                      now_time now) {
  return take_turn(now, [&](repo_turn& t) {
    const auto was_chunk = lane_.land();
    const auto stays = accept(receipt, was_chunk, t);
    auto followers = lane_.take_followers();
    if (!stays)
      return;                          // The stream repeats these frames.
    t.out.done = std::move(followers); // Everything before them is durable.
    if (!life_.removing()) {
      t.out.chunks_done = was_chunk ? 1 : 0;
      fetch_.try_finish(t);
    } else if (lane_.unsent()) {
      return; // The update in flight was sent before the removal.
    } else {
      life_.end_removal(t);
    }
    pump(t);
  });
}

/// Handles the result of the update.
/// @returns false when this repo's actor has to stop.
bool repo_machine::accept(const storage::update_receipt& receipt,
                          bool was_chunk, repo_turn& t) {
  switch (receipt.outcome) {
    case update_outcome::fenced:
      t.out.stop = fail(ec::none, "fenced");
      return false;
    case update_outcome::mismatch:
      t.count(repo_counter::update_bounced);
      t.out.stop
        = fail(ec::chain_broken, "the stored revision is not the one we own");
      return false;
    case update_outcome::refused:
      if (was_chunk && !job_.runs())
        break;
      t.count(repo_counter::update_refused);
      lane_.refused(life_.removing());
      if (!life_.removing())
        fetch_.take_refused_update(receipt.reason, t);
      break;
    case update_outcome::stale:
      if (was_chunk)
        fetch_.take_stale_chunk(t);
      break;
    case update_outcome::done:
      lane_.written(receipt.chain);
      if (receipt.erased_through != 0)
        row_.erased_through = receipt.erased_through;
      break;
  }
  return true;
}

// -- commands -----------------------------------------------------------------

repo_effects repo_machine::on_add(add_repos what, bool& added, now_time now) {
  return take_turn(now, [&](repo_turn& t) {
    added = life_.add(std::move(what), t);
  });
}

repo_effects repo_machine::on_remove(bool& removed, now_time now) {
  return take_turn(now, [&](repo_turn& t) {
    removed = life_.remove(t);
  });
}

repo_effects repo_machine::on_resync(bool& queued, now_time now) {
  queued = life_.lives();
  return when_alive(now, [this](repo_turn& t) {
    if (job_.runs())
      return;
    if (row_.account != account_status::active)
      account_.resync(t);
    else
      sync_.resync(t);
  });
}

// -- backfill -----------------------------------------------------------------

repo_effects repo_machine::on_begin(uint64_t job, const identity_answer& x,
                                    now_time now) {
  return take_turn(now, [&](repo_turn& t) {
    if (!life_.lives() || (sync_.wants_fetch(row_) && fetch_.put_off())) {
      fetch_session::refuse(job, t);
      return;
    }
    adopt_identity(x, t);
    t.out.wish.reset(); // The fetch that it asks for begins now.
    fetch_.begin(job, t);
    pump(t);
  });
}

repo_effects repo_machine::on_no_host(const identity_answer& x,
                                      std::optional<error>& failed,
                                      now_time now) {
  return when_alive(now, [&](repo_turn& t) {
    adopt_identity(x, t);
    failed = fetch_.fail_look_up(x, t);
    pump(t);
  });
}

repo_effects repo_machine::on_chunk(repo_chunk chunk, now_time now) {
  return when_runs(chunk.job, now, [&](repo_turn& t) {
    fetch_.take_chunk(std::move(chunk), t);
  });
}

repo_effects repo_machine::on_fetched(uint64_t job,
                                      const atproto::verified_root& root,
                                      now_time now) {
  return when_runs(job, now, [&](repo_turn& t) {
    job_.set_root(root);
    fetch_.try_finish(t);
    pump(t);
  });
}

repo_effects repo_machine::on_fetch_failed(const repo_fetch_failed& why,
                                           now_time now) {
  return when_runs(why.job, now, [&](repo_turn& t) {
    if (why.ahead.defined())
      t.out.news.heard.push_back({0, false, why.ahead, false});
    fetch_.take_failure(why, t);
  });
}

repo_effects repo_machine::on_buffer_page(repo_buffer_page page, now_time now) {
  return take_turn(now, [&](repo_turn& t) {
    if (auto read = buffer_.take_page(std::move(page), t); !read)
      // Frames are missing: the repo must not become `synced`.
      sync_.desync("the sync buffer cannot be read: " + read.error().context,
                   t);
    pump(t);
  });
}

repo_effects repo_machine::on_sleep(now_time now) {
  repo_effects out;
  repo_turn t{now, *settings_, row_, lane_, out};
  if (life_.lives())
    fetch_.sleep(t);
  return out;
}

/// A listing keeps an otherwise idle repo awake, so its actor counts, too.
size_t repo_machine::held_bytes() const noexcept {
  return buffer_.bytes() + (listed_.get() ? limits::repo_actor_bytes : 0);
}

bool repo_machine::idle(bool must_yield) const noexcept {
  const auto identity_due = life_.lives() && row_.identity_due;
  const auto wishes = identity_.wants_look_up() || wait_.open() || identity_due
                      || sync_.has_gap() || question_.waits()
                      || !buffer_.empty();
  // The question will be asked again when the repo is loaded, and the repo will
  // be loaded: its row says that something was not judged, or that a look-up of
  // an inactive account is due, or its first fetch is in the queue.
  const auto asks_again
    = wait_.open()
      || (row_.identity_due && row_.account != account_status::active)
      || (life_.lives() && sync_.wants_fetch(row_)
          && row_.status == repo_status::pending);
  const auto awaits_answer = identity_.asking() && !(must_yield && asks_again);
  return life_.loaded() && !lane_.in_flight() && !lane_.unsent()
         && inbox_.empty() && !job_.runs() && !awaits_answer && !listed_.get()
         && !life_.is_queued() && (must_yield || !wishes);
}

} // namespace weir::actors
