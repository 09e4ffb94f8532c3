#pragma once

#include "actors/repo/repo_types.hpp"
#include "actors/support/owed_answer.hpp"
#include "messages/backfill.hpp"
#include "messages/interfaces.hpp"

#include <caf/exit_reason.hpp>
#include <caf/local_actor.hpp>
#include <caf/send.hpp>

#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace weir::actors {

/// What a REPO has for a fetch: the permits of the SUPERVISOR, which are given
/// back by answering them, and the BACKFILL. When the REPO or the BACKFILL
/// ends, the fetch of the other one ends, too.
///
/// The REPO owns this object and uses it on its own thread.
class fetch_link {
public:
  using promise = caf::typed_response_promise<job_ended>;

  explicit fetch_link(caf::local_actor* self) noexcept : self_(self) {}

  void permit(uint64_t job, promise to) {
    permits_.emplace(job,
                     std::make_unique<owed_answer<job_ended>>(std::move(to)));
  }

  void start(uint64_t job, backfill_actor to) {
    job_ = job;
    backfill_ = std::move(to);
    self_->monitor(backfill_);
  }

  /// Tells the BACKFILL that this number of chunks is durable.
  void credit(size_t chunks) {
    for (; chunks > 0 && backfill_; --chunks)
      caf::anon_send(backfill_, chunk_stored{});
  }

  void end(job_ended x) {
    if (x.job == job_ && backfill_) {
      self_->demonitor(backfill_.address());
      if (!x.outcome)
        caf::anon_send(backfill_, job_cancelled{});
      backfill_ = nullptr;
    }
    if (const auto permit = permits_.extract(x.job))
      permit.mapped()->give(std::move(x));
  }

  /// @returns the job of the BACKFILL if it was the BACKFILL that crashed.
  std::optional<uint64_t> on_down(const caf::down_msg& x) {
    if (!backfill_ || backfill_.address() != x.source)
      return std::nullopt;
    backfill_ = nullptr;
    const auto crashed = x.reason && x.reason != caf::exit_reason::normal;
    return crashed ? std::optional{job_} : std::nullopt;
  }

  /// Called when the REPO ends.
  void clear() {
    permits_.clear();
    if (backfill_)
      caf::anon_send(backfill_, job_cancelled{});
    backfill_ = nullptr;
  }

private:
  caf::local_actor* self_;
  backfill_actor backfill_; ///< Set until it is down or its job ends.
  uint64_t job_ = 0;        ///< The job of `backfill_`.
  std::map<uint64_t, std::unique_ptr<owed_answer<job_ended>>> permits_;
};

} // namespace weir::actors
