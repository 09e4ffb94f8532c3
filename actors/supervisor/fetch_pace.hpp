#pragma once

#include "actors/supervisor/limits.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::actors {

/// Measures how fast downloads are and which of them crawl: a host that sends a
/// byte now and then must not keep a permit for which others wait.
///
/// A download is slow when its rate stayed below a part of the median rate of
/// the last downloads. The time before the answer counts as well, except for
/// `patient` downloads.
class fetch_pace {
public:
  struct download {
    atproto::did repo;
    std::string host;
    uint64_t job = 0;
    bool patient = false;  ///< The host may take all of its time to answer.
    bool answered = false; ///< The host answered.
  };

  void on_started(download x, steady_time now) {
    const auto job = x.job;
    downloads_.insert_or_assign(job, state{std::move(x), now, now, 0, 0, 0});
  }

  /// The head of the answer has arrived.
  /// @returns the download, when this is its first answer.
  const download* on_answer(uint64_t job, steady_time now) {
    const auto i = downloads_.find(job);
    if (i == downloads_.end() || i->second.what.answered)
      return nullptr;
    auto& x = i->second;
    x.what.answered = true;
    if (x.what.patient)
      x.window = now;
    return &x.what;
  }

  /// @param bytes The body bytes so far.
  void on_bytes(uint64_t job, uint64_t bytes) {
    if (const auto i = downloads_.find(job); i != downloads_.end())
      i->second.bytes = bytes;
  }

  /// The whole body has arrived; others are compared with its rate, too.
  void on_received(uint64_t job, uint64_t bytes, steady_time now) {
    const auto i = downloads_.find(job);
    if (i == downloads_.end())
      return;
    auto& x = i->second;
    if (bytes >= limits::fetch_pace_sample_bytes_min)
      keep_sample({std::move(x.what.host), rate_of(bytes, now - x.began)});
    downloads_.erase(i);
  }

  void on_ended(uint64_t job) { downloads_.erase(job); }

  /// Measures the downloads whose window is over.
  void on_timer(steady_time now) {
    const auto least = bound();
    for (auto& [job, x] : downloads_) {
      if (now - x.window < limits::fetch_pace_window
          || (x.what.patient && !x.what.answered))
        continue;
      const auto rate = rate_of(x.bytes - x.window_bytes, now - x.window);
      x.slow_windows = rate < least ? x.slow_windows + 1 : 0;
      x.window = now;
      x.window_bytes = x.bytes;
    }
  }

  /// The slow downloads that have to end when others wait: all but the `kept`
  /// oldest, among which each host has at most one.
  std::vector<download> slow(size_t kept) const {
    std::vector<download> out;
    std::set<std::string> hosts;
    for (const auto& [job, x] : downloads_) {
      if (x.slow_windows < limits::fetch_pace_windows)
        continue;
      if (hosts.size() < kept && hosts.insert(x.what.host).second)
        continue;
      out.push_back(x.what);
    }
    return out;
  }

  /// The downloads that began at `since` or before, except the `kept` oldest of
  /// each host; the youngest comes first.
  std::vector<download> beyond(size_t kept, steady_time since) const {
    std::vector<download> out;
    std::map<std::string_view, size_t> of_host;
    for (const auto& [job, x] : downloads_)
      if (++of_host[x.what.host] > kept && x.began <= since)
        out.push_back(x.what);
    std::reverse(out.begin(), out.end());
    return out;
  }

  /// The downloads without an answer that began at `since` or before, except
  /// the `kept` oldest patient ones; the oldest comes first.
  std::vector<download> unanswered(size_t kept, steady_time since) const {
    std::vector<download> out;
    size_t patient = 0;
    for (const auto& [job, x] : downloads_) {
      if (x.what.answered || (x.what.patient && ++patient <= kept))
        continue;
      if (x.began <= since)
        out.push_back(x.what);
    }
    return out;
  }

  /// The begin of the first download after `since` that has no answer.
  std::optional<steady_time> next_unanswered(steady_time since) const {
    std::optional<steady_time> out;
    for (const auto& [job, x] : downloads_)
      if (!x.what.answered && x.began > since && (!out || x.began < *out))
        out = x.began;
    return out;
  }

  bool empty() const noexcept { return downloads_.empty(); }

  /// A download below this many bytes a second is slow.
  uint64_t bound() const {
    auto median = limits::fetch_pace_standard;
    if (samples_.size() >= limits::fetch_pace_samples_min) {
      std::vector<uint64_t> rates;
      for (const auto& x : samples_)
        rates.push_back(x.rate);
      const auto middle
        = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
      std::nth_element(rates.begin(), middle, rates.end());
      median = *middle;
    }
    return std::max(median / limits::fetch_pace_part, limits::fetch_pace_floor);
  }

private:
  /// Bytes a second.
  static uint64_t rate_of(uint64_t bytes, std::chrono::microseconds time) {
    const auto micros = std::max<int64_t>(time.count(), 1);
    return static_cast<uint64_t>(static_cast<double>(bytes) * 1e6
                                 / static_cast<double>(micros));
  }

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

  /// One host has only a few samples, or a slow host could pull the median down
  /// to its own rate.
  void keep_sample(sample x) {
    const auto same = [&](const sample& y) {
      return y.host == x.host;
    };
    if (std::ranges::count_if(samples_, same)
        >= static_cast<ptrdiff_t>(limits::fetch_pace_host_samples_max))
      samples_.erase(std::ranges::find_if(samples_, same));
    else if (samples_.size() >= limits::fetch_pace_samples_max)
      samples_.pop_front();
    samples_.push_back(std::move(x));
  }

  std::map<uint64_t, state> downloads_; ///< The oldest job comes first.
  std::deque<sample> samples_;          ///< The oldest comes first.
};

} // namespace weir::actors
