#include "actors/repo/fetch_link.hpp"

#include <caf/exit_reason.hpp>
#include <caf/local_actor.hpp>
#include <caf/send.hpp>

#include <utility>

namespace weir::actors {

void fetch_link::permit(uint64_t job, promise to) {
  permits_.emplace(job,
                   std::make_unique<owed_answer<job_ended>>(std::move(to)));
}

void fetch_link::start(uint64_t job, backfill_actor to) {
  job_ = job;
  backfill_ = std::move(to);
  self_->monitor(backfill_);
}

void fetch_link::credit(size_t chunks) {
  for (; chunks > 0 && backfill_; --chunks)
    caf::anon_send(backfill_, chunk_stored{});
}

void fetch_link::end(job_ended x) {
  if (x.job == job_ && backfill_) {
    self_->demonitor(backfill_.address());
    if (!x.outcome)
      caf::anon_send(backfill_, job_cancelled{});
    backfill_ = nullptr;
  }
  const auto permit = permits_.extract(x.job);
  if (!permit.empty())
    permit.mapped()->give(std::move(x));
}

std::optional<uint64_t> fetch_link::on_down(const caf::down_msg& x) {
  if (!backfill_ || backfill_.address() != x.source)
    return std::nullopt;
  backfill_ = nullptr;
  if (!x.reason || x.reason == caf::exit_reason::normal)
    return std::nullopt;
  return job_;
}

void fetch_link::clear() {
  permits_.clear();
  if (backfill_)
    caf::anon_send(backfill_, job_cancelled{});
  backfill_ = nullptr;
}

} // namespace weir::actors
