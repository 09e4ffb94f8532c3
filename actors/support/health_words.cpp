#include "actors/support/health_machine.hpp"

/// The names of causes and levels, the remedies, and what `/readyz` says.
namespace weir::actors {

namespace {

struct cause_words {
  const char* name;
  const char* remedy;
};

/// The words in the order of `health_cause`.
constexpr std::array<cause_words, health_causes.size()> words{
  {{"directory",
    "is plc_url right, and can this machine reach it? What is known goes on, "
    "and new repos wait"},
   {"resolver",
    "is handle_resolver_url right, and can this machine reach it? Handles that "
    "it has not confirmed are handle.invalid until it answers"},
   {"clock", "set this machine's clock (chronyc tracking shows how far it is "
             "off); nothing is lost until then"},
   {"upstream", "is the URL the origin of a relay or PDS that runs, and of the "
                "kind that it is called (relay: or pds:)?"},
   {"fetch", "look at this machine's network and resolver; fetches are tried "
             "again by themselves"},
   {"commits", "is plc_url right? Keys that are not known yet are looked up; "
               "repos that were refused are fetched"},
   {"write", "look at the disk and its file system (dmesg; is it frozen for a "
             "snapshot?); the node goes on by itself when the write returns, "
             "and nothing is lost"}}};

} // namespace

const char* to_string(health_cause x) noexcept {
  return words[static_cast<size_t>(x)].name;
}

const char* remedy_of(health_cause x) noexcept {
  return words[static_cast<size_t>(x)].remedy;
}

const char* to_string(health_level x) noexcept {
  constexpr std::array names{"failing", "degraded", "unproved"};
  static_assert(names.size() == static_cast<size_t>(health_level::last_) + 1);
  return names[static_cast<size_t>(x)];
}

const char* reason_of_end(const health_finding& x) noexcept {
  return x.level == health_level::unproved
           ? "it was not tried again for a long time"
           : "the cause has ended";
}

std::vector<std::string>
reasons_to_wait(bool started, const std::vector<upstream_view>& streams,
                const std::vector<std::string>& shortages,
                const std::vector<health_finding>& causes) {
  std::vector<std::string> waiting;
  if (!started)
    waiting.emplace_back("starting");
  std::map<std::string_view, bool> missing; // False: only a cause names it.
  for (const auto& x : causes)
    if (x.cause == health_cause::upstream)
      missing.emplace(x.where, false);
  const auto stops
    = stops_work(streams, [](const auto& x) { return !x.connected; });
  for (const auto& x : streams)
    // A stream that was never open is starting, until a cause names it.
    if (!x.connected && (stops || !(x.opened || missing.contains(x.origin)))) {
      missing[x.origin] = true;
      waiting.push_back("upstream: " + x.origin + " is not connected");
    }
  waiting.insert(waiting.end(), shortages.begin(), shortages.end());
  for (const auto& x : causes) {
    const auto of_stream = x.cause == health_cause::upstream;
    if (x.level == health_level::failing && !(of_stream && missing[x.where]))
      waiting.push_back(std::string{to_string(x.cause)} + ": "
                        + (of_stream ? x.where + " " : "") + x.error);
  }
  return waiting;
}

} // namespace weir::actors
