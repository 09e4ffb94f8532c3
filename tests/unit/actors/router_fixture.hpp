#pragma once

#include "actors/router/limits.hpp"
#include "actors/router/router.hpp"
#include "messages/backfill.hpp"
#include "messages/journal.hpp"
#include "messages/repo.hpp"
#include "tests/unit/actors/machine_frames.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

#include <deque>

namespace weir::tests {

/// One shard whose REPOs, JOURNAL and UPSTREAM are probes.
class RouterFixture : public ShellFixture {
protected:
  RouterFixture() {
    home->journal = journal.as<journal_actor>();
    shared->set_upstream(7, upstream.as<upstream_actor>());
  }

  void start(actors::router_options options = {}) {
    actors::tracked_set tracked;
    for (size_t i = 1; i < 50; ++i)
      tracked.insert(atproto::stable_hash(shell_repo(i).str()));
    router = keep(actors::spawn_router(
      sys, shared, home, options, std::move(tracked),
      [this](router_actor, atproto::did repo, uint64_t incarnation) {
        repos.push_back({std::move(repo), incarnation, probe{sys, answer}});
        if (slow)
          repos.back().actor.delay_answers();
        return repos.back().actor.as<repo_actor>();
      }));
  }

  /// Limits the live REPOs, and those that one wake asks to close.
  static actors::router_options at_most(size_t residents,
                                size_t close_tries
                                = limits::router_close_tries_max) {
    actors::router_options out;
    out.residents.resident_max = residents;
    out.residents.close_tries_max = close_tries;
    return out;
  }

  void frame(size_t repo, uint64_t seq, uint32_t stream = 7,
             bool relay = false) {
    frame_batch batch;
    batch.frames.push_back(stamped(repo, seq, stream, relay));
    tell(router, std::move(batch));
  }

  static atproto::stamped_frame stamped(size_t repo, uint64_t seq,
                                        uint32_t stream = 7,
                                        bool relay = false) {
    atproto::stamped_frame x;
    x.repo = shell_repo(repo);
    x.kind = atproto::frame_kind::account;
    x.relay = relay;
    x.at = {stream, 1, seq};
    x.bytes = account_frame(static_cast<int64_t>(seq), true, {}, x.repo);
    return x;
  }

  /// Seqs of the frames that a REPO got since the last call.
  std::vector<uint64_t> frames_of(probe& x) {
    std::vector<uint64_t> out;
    for (const auto& message : x.take<repo_frames>())
      for (const auto& each : message.frames)
        out.push_back(each.at.seq);
    return out;
  }

  std::vector<uint64_t> given_up() {
    std::vector<uint64_t> out;
    for (const auto& x : upstream.take<frames_done>())
      out.insert(out.end(), x.seqs.begin(), x.seqs.end());
    return out;
  }

  /// The REPO that was made last dies; its fence, when requested, is answered.
  void die_and_come_back(uint64_t incarnation) {
    repos.back().actor.fail_answers();
    repos.back().actor.die();
    run();
    for (const auto& [x, to] : journal.take_with<journal_fence, router_actor>())
      tell(to, journal_fenced{x.repo, incarnation});
  }

  struct made {
    atproto::did repo;
    uint64_t incarnation = 0;
    probe actor;
  };

  probe journal{sys};
  probe upstream{sys};
  std::deque<made> repos;
  bool slow = false; ///< REPOs answer only when the test says so.
  /// The answer of the REPOs.
  caf::message answer = caf::make_message(add_result{1});
  router_actor router;
};

} // namespace weir::tests
