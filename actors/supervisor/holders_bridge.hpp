#pragma once

#include "actors/supervisor/host_answers.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "net/http_client.hpp"
#include "wire/filter.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace weir::actors {

/// An answer as rules read it, while `x` lives.
inline result<host_answer> as_host_answer(const result<net::http_response>& x) {
  if (!x)
    return x.error();
  return host_answer{x->status, x->wait(), as_text(x->body)};
}

/// The `holders_run` of each PDS, by upstream. All functions may be called from
/// any thread.
class holders_runs {
public:
  /// The caller owns the run until `put`: only one page of an upstream is asked
  /// about at a time.
  holders_run take(uint32_t upstream) {
    const std::lock_guard guard{mutex_};
    return std::exchange(runs_[upstream], {});
  }

  void put(uint32_t upstream, holders_run x) {
    const std::lock_guard guard{mutex_};
    runs_[upstream] = std::move(x);
  }

private:
  std::mutex mutex_;
  std::map<uint32_t, holders_run> runs_;
};

/// Whom to ask about the accounts of a page, and for what.
struct holders_question {
  /// Weak, since a request under way keeps the page alive; when the client is
  /// gone, the page is dropped.
  std::weak_ptr<net::http_client> client;
  net::url host;
  wire::collection_filter wanted;
  context_ptr shared; ///< Its stores know which repos are tracked.
  std::shared_ptr<holders_runs> runs;
  supervisor_actor to; ///< Gets the page.
};

/// Sorts the repos of a page of a PDS by whether they have records in one of
/// the wanted collections: a PDS has no listReposByCollection, so it is asked
/// about each active account that is not tracked with
/// `com.atproto.repo.describeRepo`, one after the other (SYNC-18). The page
/// goes to `to` when it has ended; `holders_page` has the rules.
/// @param first Whether it is the first page of its listing.
void find_holders(holders_question about, bool first, listing_page page);

} // namespace weir::actors
