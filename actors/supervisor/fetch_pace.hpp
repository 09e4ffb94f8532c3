#pragma once

#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir::actors {

/// How fast downloads are, and which of them crawl: a host that sends a byte
/// now and then must not keep a permit that others wait for.
///
/// A download is slow when its rate stayed below a part of the median of the
/// last downloads. Time is monotonic; time before the answer counts, but for a
/// host that may take all of it.
class fetch_pace {
public:
  struct download {
    atproto::did repo;
    std::string host;
    uint64_t job = 0;
    bool patient = false;  ///< Its host may take all its time to answer.
    bool answered = false; ///< It did.
  };

  void on_started(download x, steady_time now);

  /// The first of an answer is here.
  /// @returns it, when that is news
  const download* on_answer(uint64_t job, steady_time now);

  /// @param bytes So many in all, so far.
  void on_bytes(uint64_t job, uint64_t bytes);

  /// All of the body is here; its rate is one of those that others are
  /// compared with.
  void on_received(uint64_t job, uint64_t bytes, steady_time now);

  void on_ended(uint64_t job);

  /// Measures those whose window is over.
  void on_timer(steady_time now);

  /// Slow ones that have to go when others wait: all but the `kept` oldest, of
  /// which no two are of one host.
  std::vector<download> slow(size_t kept) const;

  /// Those that began at `since` or before, but the `kept` oldest of each host;
  /// the youngest first.
  std::vector<download> beyond(size_t kept, steady_time since) const;

  /// Those without an answer that began at `since` or before, but the `kept`
  /// oldest patient ones; the oldest first.
  std::vector<download> unanswered(size_t kept, steady_time since) const;

  /// When the next one that began after `since` did that has no answer.
  std::optional<steady_time> next_unanswered(steady_time since) const;

  bool empty() const noexcept { return downloads_.empty(); }

  /// Bytes a second; what stays below is slow.
  uint64_t bound() const;

private:
  struct state {
    download what;
    steady_time began;
    steady_time window;
    uint64_t bytes = 0;
    uint64_t window_bytes = 0; ///< At its begin.
    size_t slow_windows = 0;
  };

  struct sample {
    std::string host;
    uint64_t rate = 0;
  };

  void keep_sample(sample x);

  std::map<uint64_t, state> downloads_; ///< By job: the oldest first.
  std::deque<sample> samples_;          ///< The oldest first.
};

} // namespace weir::actors
