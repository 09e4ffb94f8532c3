#pragma once

#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir::actors {

/// Measures how fast downloads are and which of them crawl: a host that sends a
/// byte now and then must not keep a permit for which others wait.
///
/// A download is slow when its rate stayed below a part of the median rate of
/// the last downloads. Time is monotonic. The time before the answer counts as
/// well, except for a host that may take all of its time to answer.
/// host that may take all of it.
class fetch_pace {
public:
  struct download {
    atproto::did repo;
    std::string host;
    uint64_t job = 0;
    bool patient = false;  ///< The host may take all of its time to answer.
    bool answered = false; ///< The host answered.
  };

  void on_started(download x, steady_time now);

  /// The head of the answer has arrived.
  /// @returns the download, when this is its first answer.
  const download* on_answer(uint64_t job, steady_time now);

  /// @param bytes The body bytes so far.
  void on_bytes(uint64_t job, uint64_t bytes);

  /// The whole body has arrived; its rate joins the samples with which others
  /// are compared.
  void on_received(uint64_t job, uint64_t bytes, steady_time now);

  void on_ended(uint64_t job);

  /// Measures the downloads whose window is over.
  void on_timer(steady_time now);

  /// The slow downloads that have to end when others wait: all but the `kept`
  /// oldest, among which each host has at most one.
  std::vector<download> slow(size_t kept) const;

  /// The downloads that began at `since` or before, except the `kept` oldest of
  /// each host; the youngest comes first.
  std::vector<download> beyond(size_t kept, steady_time since) const;

  /// The downloads without an answer that began at `since` or before, except
  /// the `kept` oldest patient ones; the oldest comes first.
  std::vector<download> unanswered(size_t kept, steady_time since) const;

  /// The begin of the first download after `since` that has no answer.
  std::optional<steady_time> next_unanswered(steady_time since) const;

  bool empty() const noexcept { return downloads_.empty(); }

  /// A download below this many bytes a second is slow.
  uint64_t bound() const;

private:
  struct state {
    download what;
    steady_time began;
    steady_time window;
    uint64_t bytes = 0;
    uint64_t window_bytes = 0; ///< The value of `bytes` when the window began.
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
