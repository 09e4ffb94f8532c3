#include "actors/support/health_machine.hpp"

/// The names of causes and levels, and the remedies.
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
               "repos that were refused are fetched"}}};

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

} // namespace weir::actors
