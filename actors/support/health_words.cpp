#include "actors/support/health_machine.hpp"

/// The names of causes and levels, and the remedies.
namespace weir::actors {

const char* to_string(health_cause x) noexcept {
  switch (x) {
    case health_cause::directory:
      return "directory";
    case health_cause::resolver:
      return "resolver";
    case health_cause::clock:
      return "clock";
    case health_cause::upstream:
      return "upstream";
    case health_cause::fetch:
      return "fetch";
    case health_cause::commits:
      return "commits";
  }
  return "unknown";
}

const char* remedy_of(health_cause x) noexcept {
  switch (x) {
    case health_cause::directory:
      return "is plc_url right, and can this machine reach it? What is known "
             "goes on, and new repos wait";
    case health_cause::resolver:
      return "is handle_resolver_url right, and can this machine reach it? "
             "Handles that it has not confirmed are handle.invalid until it "
             "answers";
    case health_cause::clock:
      return "set this machine's clock (chronyc tracking shows how far it is "
             "off); nothing is lost until then";
    case health_cause::upstream:
      return "is the URL the origin of a relay or PDS that runs, and of the "
             "kind that it is called (relay: or pds:)?";
    case health_cause::fetch:
      return "look at this machine's network and resolver; fetches are tried "
             "again by themselves";
    case health_cause::commits:
      return "is plc_url right? Keys that are not known yet are looked up; "
             "repos that were refused are fetched";
  }
  return "";
}

const char* to_string(health_level x) noexcept {
  switch (x) {
    case health_level::failing:
      return "failing";
    case health_level::degraded:
      return "degraded";
    case health_level::unproved:
      return "unproved";
  }
  return "unknown";
}

} // namespace weir::actors
