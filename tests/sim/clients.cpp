#include "tests/sim/clients.hpp"

#include "actors/api/limits.hpp"

#include <array>
#include <memory>
#include <utility>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

/// By then all bodies have begun, whatever a turn of the node takes.
constexpr auto bodies_begin_within = 2s;

/// A DID that no directory knows: base32 of a number.
std::string invented_did(uint64_t number) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz234567";
  std::string out = "did:plc:";
  for (size_t i = 0; i < 24; ++i, number /= letters.size())
    out += letters[number % letters.size()];
  return out;
}

/// A request that declares a body of the maximum length and sends only its
/// start.
std::string long_request() {
  return "POST /repos/add HTTP/1.1\r\nHost: 127.0.0.1:2480\r\n"
         "Content-Type: application/json\r\nContent-Length: "
         + std::to_string(limits::bulk_body_bytes_max)
         + "\r\n\r\n{\"dids\":[";
}

} // namespace

void clients::perform(const deed& x) {
  switch (x.kind) {
    case deed_kind::names:
      return ask_names(x);
    case deed_kind::bodies:
      return declare_bodies(x);
    default:
      scene_.application().stop();
      is_away_ = true;
      scene_.time().set(scene_.time().now() + x.lasting, [this] { mend(); });
  }
}

void clients::mend() {
  if (std::exchange(is_away_, false))
    scene_.application().start();
}

/// Each name is used once, so that none is known already.
void clients::ask_names(const deed& x) {
  const auto all = x.lasting * x.value / 1s;
  for (int64_t i = 0; i < all; ++i)
    scene_.time().set(scene_.time().now() + i * 1s / x.value, [this] {
      scene_.send_get("/resolve/" + invented_did(++last_name_));
    });
}

/// Meanwhile a client with a small request must be answered.
void clients::declare_bodies(const deed& x) {
  if (!scene_.node_runs())
    return;
  // Shared, because connections that open late are added, too.
  const auto open = std::make_shared<std::vector<net::stream_ptr>>();
  const auto request = std::make_shared<const std::string>(long_request());
  auto& machine = scene_.clients_machine();
  const net::endpoint node{net::ip_address::loopback_v4(),
                           port_of("http://" + scene_.settings().node.bind)};
  for (int64_t i = 0; i < x.value; ++i)
    machine.dial(machine.loop(0), node, 10s,
                 [open, request](result<net::stream_ptr> made) {
                   if (!made)
                     return;
                   open->push_back(*made);
                   const std::array parts{as_bytes(*request)};
                   (*made)->write_some(parts, [request](auto, auto) {
                     // nop
                   });
                 });
  scene_.steps().run_for(bodies_begin_within);
  auto& truth = scene_.life().truth();
  const auto did = truth.view(x.number % truth.accounts()).id.str();
  const auto answer
    = scene_.post("/repos/resync", R"({"dids":[")" + did + "\"]}");
  if (answer && answer->first == 503 && wrong_.empty())
    wrong_ = "a client is not served beside bodies that do not come: "
             + answer->second;
  for (const auto& each : *open)
    each->close(true);
  open->clear();
}

} // namespace weir::sim
