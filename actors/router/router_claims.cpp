#include "actors/router/router_impl.hpp"
#include "actors/support/finished_frames.hpp"

/// DIDs that the streams of PDSs name. Their rules are in `stream_claims`.
namespace weir::actors {

void router::claim(const atproto::stamped_frame& x) {
  switch (claims_.claim(x, shared_->time->steady_now())) {
    case stream_claims::step::ask:
      send(shared_->supervisor, stream_claim{x.at.upstream, x.repo, false});
      return;
    case stream_claims::step::ask_anew:
      send(shared_->supervisor, stream_claim{x.at.upstream, x.repo, true});
      return;
    case stream_claims::step::drop:
      claims_dropped_->add();
      return;
    case stream_claims::step::wait:
      return;
  }
}

void router::on_decided(const stream_claim_decided& x) {
  switch (x.what) {
    case stream_claim_decided::outcome::confirmed:
      claims_confirmed_->add();
      if (claims_.confirm(x.upstream, x.repo, x.anew))
        admit(x.repo, [this, x](const repo_actor&) { begin_claimed(x); });
      return;
    case stream_claim_decided::outcome::failed:
      claims_failed_->add();
      charge(claims_.fail(x.upstream, x.repo));
      return;
    case stream_claim_decided::outcome::dropped:
      claims_dropped_->add();
      claims_.drop(x.upstream, x.repo);
      return;
  }
}

/// The repo may have been added meanwhile, or have gone away.
void router::begin_claimed(const stream_claim_decided& x) {
  const auto heard = claims_.begin(x.upstream, x.repo);
  if (!heard || tracked_.contains(x.repo)) {
    command_done();
    return;
  }
  start(x.repo, *heard, [this] { command_done(); });
}

/// A PDS is charged for names that are not its own, as for other frames that
/// failed their checks.
void router::charge(const std::optional<position>& x) {
  finished_frames out;
  if (x)
    out.refuse(*x);
  out.tell(this, *shared_);
}

void router::on_rest(const stream_claims_rest& x) {
  claims_dropped_->add(claims_.rest(x.upstream, x.until));
}

} // namespace weir::actors
