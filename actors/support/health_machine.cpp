#include "actors/support/health_machine.hpp"

#include "actors/support/site.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace weir::actors {

namespace {

health_finding found(health_cause cause, std::string where, std::string error,
                     bool stale = false) {
  return {cause,
          std::move(where),
          std::move(error),
          {},
          stale ? health_level::unproved : health_level::failing,
          {}};
}

constexpr std::string_view silent = "it was asked, and does not answer";

/// Makes the cause a lesser one: the node goes on in spite of it.
void lower(health_finding& x) {
  if (x.level == health_level::failing)
    x.level = health_level::degraded;
}

} // namespace

void health_machine::remember(const atproto::did& x, bool proved) {
  if (document_is_foreign(x))
    return;
  if (const auto i = std::ranges::find(known_, x, &known_account::id);
      i != known_.end()) {
    i->proved |= proved;
    return;
  }
  const auto has_proved = !known_.empty() && known_[0].proved;
  if (has_proved && !proved)
    return;
  if (!has_proved)
    known_.clear();
  if (known_.size() < limits::health_known_max)
    known_.push_back({x, proved});
}

std::optional<atproto::did> health_machine::known() const {
  if (known_.empty())
    return std::nullopt;
  const auto i = std::ranges::find_if(
    known_, [](const auto& x) { return x.proved && !x.missed; });
  return i != known_.end() ? i->id : known_.front().id;
}

void health_machine::recall(const atproto::did& x, const std::string& host,
                            steady_time now) {
  hosts_.succeed(std::hash<std::string>{}(host), now);
  remember(x, true);
  for (auto& y : known_)
    y.must_ask |= y.id == x;
}

void health_machine::on_look_up(uint64_t subject, look_up_fault fault,
                                std::string_view text, steady_time now) {
  if (fault == look_up_fault::limited) {
    directory_.fail(text, now); // It counts only if no answer came before.
    look_ups_.succeed(subject, now); // The directory can be reached.
    return limited_.fail(subject, 1, text, now);
  }
  const auto away = fault == look_up_fault::unreachable;
  if (away || fault == look_up_fault::lost)
    look_ups_.fail(subject, 1, text, now);
  if (away || fault == look_up_fault::lost || fault == look_up_fault::foreign)
    directory_.fail(text, now);
  else
    directory_.answer();
  if (away)
    return;
  limited_.succeed(subject, now);
  for (auto& x : known_)
    if (atproto::stable_hash(x.id.str()) == subject)
      x.missed = fault != look_up_fault::none;
  if (fault != look_up_fault::none) {
    unusable_.fail(subject, 1, text, now);
    return;
  }
  look_ups_.succeed(subject, now);
  unusable_ = outcome_tally{};
  std::erase_if(known_, [](const auto& x) { return x.missed; });
}

void health_machine::on_directory_rest(steady_time until, steady_time now) {
  const auto rest = std::chrono::round<std::chrono::seconds>(until - now);
  if (rest < limits::health_rest_min)
    return;
  rest_until_ = until;
  rest_ = rest;
}

void health_machine::on_handle(std::string_view failure, steady_time now) {
  if (resolver_url_.empty())
    return;
  if (failure.empty())
    resolver_.answer();
  else
    resolver_.fail(failure, now);
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
  auto& own = streams_[upstream].commits;
  if (reason == 0) {
    own.succeed(subject, now);
    commits_.succeed(subject, now);
    refusing_.succeed(upstream, now);
    return;
  }
  own.fail(subject, reason, text, now);
  commits_.fail(subject, reason, text, now);
  refusing_.fail(upstream, reason, text, now);
  last_refused_ = upstream;
}

void health_machine::on_listing(uint32_t upstream, std::string_view trouble) {
  streams_[upstream].listing.assign(
    trouble.substr(0, limits::health_text_bytes_max));
}

void health_machine::on_holders(uint32_t upstream, std::string_view trouble) {
  streams_[upstream].holders.assign(
    trouble.substr(0, limits::health_text_bytes_max));
}

void health_machine::on_origin(uint32_t upstream, std::string trouble,
                               std::string remedy) {
  auto& x = streams_[upstream];
  x.origin = std::move(trouble);
  x.remedy = std::move(remedy);
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

health_machine::findings_list health_machine::judge(const views& streams,
                                                    const clock_state& clock,
                                                    steady_time now) {
  findings_list out;
  if (clock.suspect) {
    const auto minutes = std::chrono::round<std::chrono::minutes>(clock.behind);
    out.push_back(found(health_cause::clock, {},
                        "commits are signed about "
                          + std::to_string(minutes.count())
                          + " minutes ahead of this machine's clock"));
  } else if (clock.directory_ahead) {
    const auto minutes
      = std::chrono::round<std::chrono::minutes>(*clock.directory_ahead);
    out.push_back(
      found(health_cause::clock, {},
            "the directory's answers are dated "
              + std::to_string(std::abs(minutes.count()))
              + (minutes.count() > 0 ? " minutes ahead of" : " minutes behind")
              + " this machine's clock"));
    lower(out.back());
  }
  judge_work(now, out);
  const auto named = judge_streams(streams, now, out);
  judge_commits(streams, named, now, out);
  if (auto hangs = write_.judge(now))
    out.push_back(
      found(health_cause::write, write_.where, std::move(*hangs)));
  return out;
}

bool health_machine::write_hangs() const noexcept {
  return std::ranges::count(findings_, health_cause::write,
                            &health_finding::cause)
         != 0;
}

std::optional<health_finding>
health_machine::judge_directory(steady_time now) {
  look_ups_.end_if_calm(now);
  limited_.end_if_calm(now);
  if (look_ups_.judge(now) != 0)
    return found(health_cause::directory, directory_url_, look_ups_.text(),
                 look_ups_.is_stale(now));
  if (directory_.keeps_waiting(now)) {
    auto out
      = found(health_cause::directory, directory_url_, std::string{silent});
    lower(out);
    return out;
  }
  if (misses_known(now))
    return found(health_cause::directory, directory_url_, unusable_.text(),
                 unusable_.is_stale(now));
  const auto rests = now < rest_until_;
  // A directory that limits us does its work, only slowly.
  const auto limits_most = limited_.judge(now) != 0;
  if (!rests && !limits_most && !directory_.never_answered())
    return std::nullopt;
  // No question was answered yet, and the last failure was a 429.
  const auto limits_us
    = rests || limits_most || directory_.text() == limited_.text();
  auto out = found(health_cause::directory, directory_url_,
                   limits_us ? limited_.text() : directory_.text(),
                   !rests && limits_most && limited_.is_stale(now));
  if (rests)
    out.error = "it asked (HTTP 429) not to be asked for "
                + std::to_string(rest_.count()) + " seconds";
  lower(out);
  if (limits_us)
    out.own_remedy = "it limits this node, which waits as long as it says; if "
                     "that goes on, lower plc_per_second";
  return out;
}

void health_machine::judge_work(steady_time now, findings_list& out) {
  if (auto x = judge_directory(now))
    out.push_back(std::move(*x));
  const auto waits = resolver_.keeps_waiting(now);
  if (waits || resolver_.is_silent(now)) {
    out.push_back(found(health_cause::resolver, resolver_url_,
                        waits ? std::string{silent} : resolver_.text(),
                        resolver_.is_stale(now)));
    lower(out.back()); // Repos are kept all the same.
  }
  const auto hosts_fail = hosts_.judge(now) != 0;
  if (fetches_.judge(now) == 0)
    return;
  out.push_back(found(health_cause::fetch, failing_host_, fetches_.text(),
                      fetches_.is_stale(now)));
  if (!hosts_fail)
    lower(out.back()); // The other hosts are quiet.
}

std::optional<health_finding>
health_machine::judge_stream(const upstream_view& x, stream_state& known,
                             steady_time now) {
  if (is_away(known, x.connected, now)) {
    const auto* const text
      = x.connected ? "it was away, and has been connected for seconds only"
                    : "it is not connected";
    return found(health_cause::upstream, x.origin,
                 x.last_error.empty() ? text : x.last_error);
  }
  if (!known.origin.empty()) { // Its commits are refused for the same reason.
    auto out = found(health_cause::upstream, x.origin, known.origin);
    out.own_remedy = known.remedy;
    return out;
  }
  if (known.commits.judge(now) != 0)
    return found(health_cause::upstream, x.origin,
                 "most of its commits are refused: " + known.commits.text(),
                 known.commits.is_stale(now));
  const auto& listing_fault
    = known.listing.empty() ? known.holders : known.listing;
  if (!x.stalls && listing_fault.empty())
    return std::nullopt;
  auto out = found(health_cause::upstream, x.origin,
                   x.stalls ? x.last_error : listing_fault);
  if (!x.unreadable)
    lower(out);
  return out;
}

/// @returns the number of upstreams that are named for their commits.
size_t health_machine::judge_streams(const views& streams, steady_time now,
                                     findings_list& out) {
  const auto first = out.size();
  size_t named = 0;
  std::set<uint32_t> bad;
  for (const auto& x : streams) {
    auto& known = streams_[x.id];
    auto it = judge_stream(x, known, now);
    if (!it)
      continue;
    named += !known.is_away && known.commits.judge(now) != 0 ? 1 : 0;
    if (it->level == health_level::failing)
      bad.insert(x.id);
    out.push_back(std::move(*it));
  }
  if (!stops_work(streams, [&](const auto& x) {
        return bad.contains(x.id);
      }))
    for (auto i = first; i < out.size(); ++i)
      lower(out[i]);
  return named;
}

/// None of many small hosts has enough commits to be named.
void health_machine::judge_commits(const views& streams, size_t named,
                                   steady_time now, findings_list& out) {
  const auto reason = commits_.judge(now);
  const auto of_streams = refusing_.judge(now);
  const auto failing = refusing_.failures();
  if (reason == 0 || reason != of_streams || 2 * named >= failing)
    return;
  const auto last
    = std::ranges::find(streams, last_refused_, &upstream_view::id);
  out.push_back(found(
    health_cause::commits, last == streams.end() ? std::string{} : last->origin,
    "most commits of most upstreams are refused: " + commits_.text(),
    commits_.is_stale(now)));
  const auto heard = std::min(streams.size(), limits::health_subjects_max);
  if (2 * failing <= heard)
    lower(out.back());
}

/// Whether no DID was found recently, and none of the known ones either. Others
/// may invent any number of accounts, but honest accounts are still found.
bool health_machine::misses_known(steady_time now) {
  return unusable_.judge(now) != 0
         && std::ranges::none_of(
           known_, [](const auto& x) { return x.proved && !x.missed; });
}

/// The account whose document is looked up next, to test whether the directory
/// works and what its clock shows. One with `must_ask` is asked for at once.
/// The others share one look-up in `limits::health_probe_interval`; only while
/// known documents are missing do proved accounts not wait for each other.
std::optional<atproto::did> health_machine::next_probe(const clock_state& clock,
                                                       steady_time now) {
  const auto never_answered
    = directory_.never_answered()
      && now - directory_.failed_at() >= limits::health_probe_interval;
  const auto fails = clock.suspect || clock.directory_ahead
                     || look_ups_.judge(now) != 0 || never_answered;
  const auto none_usable = unusable_.judge(now) != 0;
  const auto is_due = [&](const known_account& x) {
    const auto wanted = (none_usable && x.proved) || now >= probe_at_;
    return x.must_ask
           || ((none_usable || fails) && wanted && now >= x.probe_at);
  };
  const auto i = std::ranges::find_if(known_, is_due);
  if (i == known_.end())
    return std::nullopt;
  i->must_ask = false;
  probe_at_ = i->probe_at = now + limits::health_probe_interval;
  return i->id;
}

health_machine::news
health_machine::look(const std::vector<upstream_view>& streams,
                     const clock_state& clock, steady_time now,
                     wall_time wall) {
  news out;
  auto before = std::exchange(findings_, judge(streams, clock, now));
  for (auto& x : findings_) {
    const auto known = std::ranges::find_if(
      before, [&](const auto& y) { return y.is_same(x); });
    if (known == before.end()) {
      x.since = wall;
      out.begun.push_back(x);
    } else {
      x.since = known->since;
      before.erase(known);
    }
  }
  out.ended = std::move(before);
  out.probe = next_probe(clock, now);
  return out;
}

} // namespace weir::actors
