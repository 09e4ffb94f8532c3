#include "actors/supervisor/fetch_pace.hpp"

#include "actors/supervisor/limits.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace weir::actors {

namespace {

/// Bytes a second.
uint64_t rate_of(uint64_t bytes, std::chrono::microseconds time) {
  const auto micros = std::max<int64_t>(time.count(), 1);
  return static_cast<uint64_t>(static_cast<double>(bytes) * 1e6
                               / static_cast<double>(micros));
}

} // namespace

void fetch_pace::on_started(download x, steady_time now) {
  const auto job = x.job;
  downloads_.insert_or_assign(job, state{std::move(x), now, now, 0, 0, 0});
}

const fetch_pace::download* fetch_pace::on_answer(uint64_t job,
                                                  steady_time now) {
  const auto i = downloads_.find(job);
  if (i == downloads_.end() || i->second.what.answered)
    return nullptr;
  auto& x = i->second;
  x.what.answered = true;
  if (x.what.patient)
    x.window = now;
  return &x.what;
}

void fetch_pace::on_bytes(uint64_t job, uint64_t bytes) {
  if (const auto i = downloads_.find(job); i != downloads_.end())
    i->second.bytes = bytes;
}

void fetch_pace::on_received(uint64_t job, uint64_t bytes, steady_time now) {
  const auto i = downloads_.find(job);
  if (i == downloads_.end())
    return;
  auto& x = i->second;
  if (bytes >= limits::fetch_pace_sample_bytes_min)
    keep_sample({std::move(x.what.host), rate_of(bytes, now - x.began)});
  downloads_.erase(i);
}

void fetch_pace::on_ended(uint64_t job) {
  downloads_.erase(job);
}

/// One host has only a few samples, or a slow host could pull the median down
/// to its own rate.
void fetch_pace::keep_sample(sample x) {
  const auto same = [&](const sample& y) {
    return y.host == x.host;
  };
  if (static_cast<size_t>(std::count_if(samples_.begin(), samples_.end(), same))
      >= limits::fetch_pace_host_samples_max)
    samples_.erase(std::find_if(samples_.begin(), samples_.end(), same));
  else if (samples_.size() >= limits::fetch_pace_samples_max)
    samples_.pop_front();
  samples_.push_back(std::move(x));
}

uint64_t fetch_pace::bound() const {
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

void fetch_pace::on_timer(steady_time now) {
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

std::vector<fetch_pace::download> fetch_pace::slow(size_t kept) const {
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

std::vector<fetch_pace::download>
fetch_pace::beyond(size_t kept, steady_time since) const {
  std::vector<download> out;
  std::map<std::string_view, size_t> of_host;
  for (const auto& [job, x] : downloads_)
    if (++of_host[x.what.host] > kept && x.began <= since)
      out.push_back(x.what);
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<fetch_pace::download>
fetch_pace::unanswered(size_t kept, steady_time since) const {
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

std::optional<steady_time>
fetch_pace::next_unanswered(steady_time since) const {
  std::optional<steady_time> out;
  for (const auto& [job, x] : downloads_)
    if (!x.what.answered && x.began > since && (!out || x.began < *out))
      out = x.began;
  return out;
}

} // namespace weir::actors
