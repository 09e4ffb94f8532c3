#pragma once

#include "actors/repo/repo_types.hpp"
#include "actors/support/owed_answer.hpp"
#include "messages/backfill.hpp"
#include "messages/interfaces.hpp"

#include <caf/fwd.hpp>

#include <map>
#include <memory>
#include <optional>

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

  void permit(uint64_t job, promise to);

  void start(uint64_t job, backfill_actor to);

  /// Tells the BACKFILL that this number of chunks is durable.
  void credit(size_t chunks);

  void end(job_ended x);

  /// @returns the job of the BACKFILL if it was the BACKFILL that crashed.
  std::optional<uint64_t> on_down(const caf::down_msg& x);

  /// Called when the REPO ends.
  void clear();

private:
  caf::local_actor* self_;
  backfill_actor backfill_; ///< Set until it is down or its job ends.
  uint64_t job_ = 0;        ///< The job of `backfill_`.
  std::map<uint64_t, std::unique_ptr<owed_answer<job_ended>>> permits_;
};

} // namespace weir::actors
