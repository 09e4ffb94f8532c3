#include "tests/sim/thrift.hpp"

#include "actors/api/limits.hpp"
#include "actors/identity/limits.hpp"

#include <algorithm>
#include <charconv>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

constexpr std::string_view sync_read = "/xrpc/com.atproto.sync.";

/// Requests beyond the budget that may leave in a minute: those that wait for a
/// connection for up to `prompt` (below), 10 at 20 a second, and one that is
/// owed for a probe of the directory. Of the probes between two look-ups only
/// one counts towards the budget: at one look-up in two seconds up to 12 of the
/// 20 in a minute do not.
constexpr double a_few = 16;

/// When a directory delays a connection or a request for longer, others are
/// held up: they already have their share of the budget, wait for a connection,
/// and may leave together up to this much later.
constexpr microseconds prompt = 500ms;
constexpr microseconds leaves_within = 1s;

/// The interval over which clients' share of the look-ups is measured.
constexpr std::chrono::seconds inventions_within = 10s;

/// Requests about one account by one method that got no answer. The pauses
/// double, from two seconds to five minutes for look-ups, or from a minute. A
/// directory that fails is also probed every 15 seconds with an account that it
/// knew.
constexpr microseconds unanswered_within = 10min;
constexpr double unanswered_max = 64;
/// A host that limits us names the time of the next request, a second later or
/// more.
constexpr double limited_max = 600;

/// The interval over which connections to one stream are counted. Its pauses
/// double from a second to a minute, and start anew when it brings an event.
constexpr microseconds dials_within = 10min;
constexpr size_t dials_max = 24;

/// Path and query of a request; empty when it is not a request.
std::string_view target_of(std::string_view head) noexcept {
  constexpr std::string_view get = "GET ";
  if (!head.starts_with(get))
    return {};
  head.remove_prefix(get.size());
  return head.substr(0, head.find(' '));
}

/// The DID in a query, not decoded.
std::string_view did_of(std::string_view target) noexcept {
  constexpr std::string_view key = "did=";
  const auto at = target.find(key);
  if (at == std::string_view::npos)
    return {};
  target.remove_prefix(at + key.size());
  return target.substr(0, target.find('&'));
}

/// Whether the server gives what was requested, or says that it does not exist.
bool is_answer(std::string_view head) noexcept {
  constexpr std::string_view version = "HTTP/1.1 ";
  if (!head.starts_with(version) || head.size() < version.size() + 3)
    return false;
  const auto status = head.substr(version.size(), 3);
  return status != "429" && status[0] != '5';
}

bool is_limit(std::string_view head) noexcept {
  return head.starts_with("HTTP/1.1 429");
}

/// The value of `Retry-After: 9` in a head; zero when there is none.
std::chrono::seconds retry_after(std::string_view head) noexcept {
  constexpr std::string_view name = "Retry-After: ";
  const auto at = head.find(name);
  int64_t out = 0;
  if (at != std::string_view::npos)
    std::from_chars(head.data() + at + name.size(), head.data() + head.size(),
                    out);
  return std::chrono::seconds{out};
}

} // namespace

thrift_watch::thrift_watch(thrift_promises x) : promises_(std::move(x)) {
  // nop
}

void thrift_watch::begin_life() {
  documents_in_second_.clear();
  documents_in_minute_.clear();
  inventions_.clear();
  invented_ = 0;
  unanswered_.clear();
  limited_.clear();
  open_.clear();
  held_up_.reset();
  limited_by_directory_.reset();
  dials_.clear();
}

void thrift_watch::on_request(steady_time now, uint16_t server,
                              uint64_t connection, std::string_view head) {
  const auto target = target_of(head);
  if (target.empty())
    return;
  if (server == promises_.directory && target.starts_with("/did:"))
    return note_document(now, connection, std::string{target.substr(1)});
  if (!target.starts_with(sync_read))
    return;
  const auto path = target.substr(0, target.find('?'));
  const auto method = path.substr(sync_read.size());
  if (method == "subscribeRepos")
    return note_stream(now, server);
  if (const auto did = did_of(target); !did.empty())
    ask_again(now, connection,
              std::string{method} + " of " + std::string{did}, false);
}

void thrift_watch::on_answer(steady_time now, uint64_t connection,
                             std::string_view head) {
  const auto asked = open_.find(connection);
  if (asked == open_.end())
    return;
  if (is_answer(head) || is_limit(head))
    unanswered_.erase(asked->second.what);
  if (is_limit(head))
    spend(now, limited_[asked->second.what], unanswered_within, limited_max,
          "requests that a host limits for " + asked->second.what);
  if (asked->second.of_document && now - asked->second.at > prompt)
    held_up_ = now;
  if (asked->second.of_document && is_limit(head))
    note_limit(now, head);
  open_.erase(asked);
}

void thrift_watch::on_wait(steady_time now, microseconds took) {
  if (took > prompt)
    held_up_ = now;
}

/// How many requests beyond the budget may leave within a time.
double thrift_watch::together(steady_time now, microseconds within) const {
  if (!held_up_ || now - *held_up_ > within + leaves_within)
    return a_few;
  const auto waiting
    = promises_.look_ups_per_second
      * static_cast<double>(1 + limits::identity_timeout / 1s);
  return std::max(
    a_few,
    std::min(waiting, static_cast<double>(limits::identity_in_flight_max)));
}

void thrift_watch::note_limit(steady_time now, std::string_view head) {
  const auto until = now + retry_after(head);
  limited_by_directory_ = {
    now, limited_by_directory_ ? std::max(limited_by_directory_->second, until)
                               : until};
}

/// Whether the limit applies; requests that had begun before may leave a moment
/// later.
bool thrift_watch::is_limited(steady_time now) const {
  if (!limited_by_directory_)
    return false;
  const auto& [since, until] = *limited_by_directory_;
  const microseconds leaves
    = held_up_ ? leaves_within + limits::identity_timeout : leaves_within;
  return now < until && now - since > leaves;
}

/// A budget permits a second's worth at once.
void thrift_watch::note_document(steady_time now, uint64_t connection,
                                 const std::string& did) {
  // The end of a cut connection is not reported; a request is given up after
  // its timeout.
  for (const auto& [ignored, x] : open_)
    if (x.of_document && now - x.at > prompt
        && now - x.at <= limits::identity_timeout)
      held_up_ = now;
  if (broken_.empty() && is_limited(now))
    broken_ = "a look-up of " + did + " before the directory's Retry-After";
  const auto rate = std::max(promises_.look_ups_per_second, 1.0);
  spend(now, documents_in_second_, 1s, 2 * rate + together(now, 1s),
        "look-ups");
  spend(now, documents_in_minute_, 60s, 61 * rate + together(now, 60s),
        "look-ups");
  const auto is_invented = !promises_.is_known(did);
  invented_ += is_invented ? 1 : 0;
  if (promises_.only_clients_invent && is_invented)
    spend(now, inventions_, inventions_within,
          limits::resolve_share * rate
              * static_cast<double>(inventions_within.count() + 1)
            + together(now, inventions_within),
          "look-ups of unknown names");
  ask_again(now, connection, "the document of " + did, true);
}

void thrift_watch::ask_again(steady_time now, uint64_t connection,
                             const std::string& what, bool of_document) {
  open_[connection] = {what, now, of_document};
  spend(now, unanswered_[what], unanswered_within, unanswered_max,
        "requests without an answer for " + what);
}

void thrift_watch::note_stream(steady_time now, uint16_t server) {
  auto& all = dials_[server];
  while (!all.empty() && now - all.front().first > 2 * dials_within)
    all.pop_front();
  all.push_back({now, promises_.events(server)});
  const auto late = std::find_if(all.begin(), all.end(), [now](const auto& x) {
    return now - x.first <= dials_within;
  });
  const auto dials = static_cast<size_t>(all.end() - late);
  // Seqs may start anew.
  const auto brought = std::max(all.back().second, all.front().second)
                       - all.front().second;
  if (broken_.empty() && dials > dials_max + brought)
    broken_ = std::to_string(dials) + " dials of one stream in ten minutes, "
              "which brought "
              + std::to_string(brought) + " events in twice that time";
}

/// Counts one more request, of at most `most` within a time.
void thrift_watch::spend(steady_time now, times& from, microseconds within,
                         double most, const std::string& what) {
  while (!from.empty() && now - from.front() >= within)
    from.pop_front();
  from.push_back(now);
  if (broken_.empty() && static_cast<double>(from.size()) > most)
    broken_ = std::to_string(from.size()) + " " + what + " in "
              + std::to_string(within / 1s) + " s";
}

} // namespace weir::sim
