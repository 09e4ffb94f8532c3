#include "actors/supervisor/supervisor_impl.hpp"
#include "actors/support/limits_health.hpp"

/// Whether the origins of PDSs are those that documents name. The rules are in
/// origin_machine.
namespace weir::actors {

namespace {

/// Of a text that others wrote.
std::string cut(std::string_view x) {
  return std::string{x.substr(0, limits::health_text_bytes_max)};
}

std::string remedy_of(const origin_machine::finding& x) {
  const auto origin = cut(x.origin);
  if (x.several)
    return "it lists accounts of several hosts, as a relay does: name it in "
           "upstream as relay:"
           + origin + " instead of pds:" + origin;
  return "name it in upstream by the origin that its accounts' documents name: "
         "pds:"
         + cut(x.host) + " instead of pds:" + origin + "; if it is a relay, as relay:"
         + origin;
}

} // namespace

void supervisor::look_at_origin(const listing_page& x) {
  if (!x.collection.empty() || !origins_.wants(x.upstream))
    return;
  const auto from = env_.shared->upstreams.find(x.upstream);
  if (from.relay)
    return;
  std::vector<atproto::did> active;
  for (const auto& line : *x.repos)
    if (line.account == storage::account_status::active
        && atproto::supported_did(line.repo.str()))
      active.push_back(line.repo);
  perform(origins_.on_page(x.upstream, from.origin, std::move(active), now(),
                           wall()));
}

void supervisor::perform(const origin_machine::effects& x) {
  for (const auto& each : x.ask)
    look_up_claim(each.repo, each.anew);
  for (const auto& each : x.found) {
    std::string trouble;
    std::string remedy;
    if (!each.account.empty()) {
      trouble = "its accounts' documents do not name " + cut(each.origin)
                + ": that of " + cut(each.account) + " names "
                + cut(each.host) + ", so all that it says of them is refused";
      remedy = remedy_of(each);
    }
    env_.shared->health.with([&](health_machine& health) {
      health.on_origin(each.upstream, trouble, remedy);
    });
  }
  if (x.timer)
    timer_.arm(this, now(), *x.timer);
}

} // namespace weir::actors
