#include "tests/sim/occurrences.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;

constexpr std::array of_servers{deed_kind::refuse, deed_kind::swallow,
                                deed_kind::stall,  deed_kind::crawl,
                                deed_kind::unname, deed_kind::mute_name};
constexpr std::array servers{server::host, server::relay, server::directory};

constexpr int64_t seconds_of_a_year = 365 * 86'400;

bool is_of_server(deed_kind x) {
  return std::find(of_servers.begin(), of_servers.end(), x) != of_servers.end();
}

/// Faults of a server that take effect when somebody connects to it.
constexpr std::array met_of_servers{
  deed_kind::refuse, deed_kind::swallow,   deed_kind::stall, deed_kind::crawl,
  deed_kind::unname, deed_kind::mute_name, deed_kind::cut,   deed_kind::flap};

std::string of(deed_kind what, server whose) {
  return std::string{to_string(what)} + " of the " + to_string(whose);
}

uint64_t met(virtual_net& net, const std::string& origin, deed_kind what) {
  const auto& x = net.troubles(port_of(origin));
  const auto name = net::parse_url(origin).value().host;
  switch (what) {
    case deed_kind::refuse:
      return x.refused;
    case deed_kind::swallow:
      return x.unanswered;
    case deed_kind::stall:
      return x.stalled;
    case deed_kind::crawl:
      return x.slowed;
    case deed_kind::unname:
      return net.misnamed(name, naming::unknown);
    case deed_kind::mute_name:
      return net.misnamed(name, naming::silent);
    case deed_kind::flap:
      return x.short_lived;
    default:
      return x.cut;
  }
}

/// A server is down, or does not answer as it should.
bool is_outage(const deed& x) {
  return is_of_server(x.kind)
         || (x.kind == deed_kind::fault
             && simnet::is_of_requests(x.what));
}

} // namespace

void count_details(const deed& x, occurrences& counts) {
  if (is_of_server(x.kind))
    ++counts[of(x.kind, x.of)];
  if (is_outage(x) && x.lasting >= 1h)
    ++counts["outage of hours"];
  if (is_outage(x) && x.lasting >= 24h)
    ++counts["outage of a day"];
  if (x.kind != deed_kind::clock)
    return;
  ++counts[x.value > 0 ? "clock ahead" : "clock behind"];
  if (std::abs(x.value) >= seconds_of_a_year)
    ++counts["clock wrong by a year"];
}

void count_met(scene& x, const performer& done, occurrences& counts) {
  const auto add = [&counts](const std::string& name, uint64_t n) {
    if (n > 0)
      counts["met " + name] += n;
  };
  for (size_t i = 0; i < simnet::fault_kinds; ++i) {
    const auto kind = static_cast<simnet::fault_kind>(i);
    if (simnet::is_of_requests(kind))
      add(simnet::to_string(kind), x.life().requests().served(kind));
  }
  for (const auto what : met_of_servers) {
    const auto count = [&](const std::string& origin, server whose) {
      add(of(what, whose), met(x.net(), origin, what));
    };
    for (const auto& origin : x.urls().hosts)
      count(origin, server::host);
    count(x.urls().relay, server::relay);
    count(x.urls().plc, server::directory);
  }
  add("disk_error", x.disk_faults().failures());
  add("disk_full", x.disk_faults().refusals());
  add("kill_in_write", done.manager().ends_in_calls());
  add("power", done.manager().power_losses());
  add("listing that changed under the reader", x.listings().changed());
}

std::set<std::string> known_details() {
  std::set<std::string> out{
    "outage of hours", "outage of a day",       "clock ahead",
    "clock behind",    "clock wrong by a year", "met disk_error",
    "met disk_full",   "met kill_in_write",     "met power",
    "met listing that changed under the reader"};
  for (const auto what : of_servers)
    for (const auto whose : servers)
      out.insert(of(what, whose));
  for (const auto what : met_of_servers)
    for (const auto whose : servers)
      if (what != deed_kind::flap || whose != server::directory)
        // Only streams are cut again and again.
        out.insert("met " + of(what, whose));
  for (size_t i = 0; i < simnet::fault_kinds; ++i) {
    const auto kind = static_cast<simnet::fault_kind>(i);
    if (simnet::is_of_requests(kind))
      out.insert(std::string{"met "} + simnet::to_string(kind));
  }
  return out;
}

} // namespace weir::sim
