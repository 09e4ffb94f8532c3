#include "actors/support/health_machine.hpp"

#include <functional>
#include <utility>

namespace weir::actors {

const char* to_string(health_cause x) noexcept {
  switch (x) {
    case health_cause::directory:
      return "directory";
    case health_cause::clock:
      return "clock";
    case health_cause::upstream:
      return "upstream";
    case health_cause::fetch:
      return "fetch";
  }
  return "unknown";
}

void health_machine::on_look_up(uint64_t subject, look_up_fault fault,
                                std::string_view text, steady_time now) {
  if (fault == look_up_fault::none) {
    look_ups_.succeed(subject, now);
    look_ups_.forget(static_cast<uint8_t>(look_up_fault::unknown));
  } else if (fault == look_up_fault::unreachable || look_ups_.all_fail(now)) {
    look_ups_.fail(subject, static_cast<uint8_t>(fault), text, now);
  }
}

void health_machine::on_fetch(uint64_t subject, const std::string& host,
                              std::string_view failure, steady_time now) {
  const auto which = std::hash<std::string>{}(host);
  if (failure.empty()) {
    fetches_.succeed(subject, now);
    hosts_.succeed(which, now);
    return;
  }
  fetches_.fail(subject, 1, failure, now);
  hosts_.fail(which, 1, failure, now);
  failing_host_ = host;
}

void health_machine::on_commit(uint32_t upstream, uint64_t subject,
                               uint8_t reason, std::string_view text,
                               steady_time now) {
  auto& commits = streams_[upstream].commits;
  if (reason == 0)
    commits.succeed(subject, now);
  else
    commits.fail(subject, reason, text, now);
}

bool health_machine::is_away(stream_state& x, bool connected,
                             steady_time now) {
  if (!connected) {
    x.open_since.reset();
    if (!x.away_since)
      x.away_since = now;
    x.is_away |= now - *x.away_since >= limits::health_upstream_grace;
    return x.is_away;
  }
  if (!x.open_since)
    x.open_since = now;
  if (now - *x.open_since >= limits::health_upstream_grace) {
    x.away_since.reset();
    x.is_away = false;
  }
  return x.is_away;
}

std::vector<health_finding>
health_machine::judge(const std::vector<upstream_view>& streams,
                      const clock_state& clock, steady_time now) {
  std::vector<health_finding> out;
  if (clock.doubted) {
    const auto minutes = std::chrono::round<std::chrono::minutes>(clock.behind);
    out.push_back({health_cause::clock, {},
                   "commits are signed about "
                     + std::to_string(minutes.count())
                     + " minutes ahead of this machine's clock",
                   {}});
  }
  if (look_ups_.judge(now) != 0)
    out.push_back(
      {health_cause::directory, directory_url_, look_ups_.text(), {}});
  const auto hosts_fail = hosts_.judge(now) != 0;
  if (fetches_.judge(now) != 0 && hosts_fail)
    out.push_back({health_cause::fetch, failing_host_, fetches_.text(), {}});
  for (const auto& x : streams) {
    auto& known = streams_[x.id];
    if (is_away(known, x.connected, now))
      out.push_back({health_cause::upstream, x.origin,
                     x.last_error.empty() ? "it is not connected"
                                          : x.last_error,
                     {}});
    else if (known.commits.judge(now) != 0)
      out.push_back({health_cause::upstream, x.origin,
                     "most of its commits are refused: "
                       + known.commits.text(),
                     {}});
  }
  return out;
}

health_machine::news
health_machine::look(const std::vector<upstream_view>& streams,
                     const clock_state& clock, steady_time now,
                     wall_time wall) {
  news out;
  auto before = std::exchange(findings_, judge(streams, clock, now));
  for (auto& x : findings_) {
    const auto known
      = std::find_if(before.begin(), before.end(),
                     [&](const auto& y) { return y.is_same(x); });
    if (known == before.end()) {
      x.since = wall;
      out.begun.push_back(x);
    } else {
      x.since = known->since;
      before.erase(known);
    }
  }
  out.ended = std::move(before);
  return out;
}

} // namespace weir::actors
