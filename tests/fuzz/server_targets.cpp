#include "actors/api/access.hpp"
#include "actors/api/limits.hpp"
#include "actors/api/log_request.hpp"
#include "actors/api/page_request.hpp"
#include "actors/api/routes.hpp"
#include "atproto/identifiers.hpp"
#include "net/http_parser.hpp"
#include "net/http_server.hpp"
#include "net/limits.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/net_memory.hpp"
#include "wire/limits.hpp"
#include "wire/repos_request_reader.hpp"

#include <algorithm>
#include <strings.h>

/// A connection from its first to its last byte, through the server's own code:
/// framing, the check in front of all routes, the routes, and their readers.
/// Behind them is an empty store.
namespace weir::fuzz {

namespace {

using namespace actors;
using net::http_reply;
using net::incoming_request;

/// `admin:secret`, as far as padding does not matter.
constexpr std::string_view credential = "YWRtaW46c2VjcmV0";

size_t count_of(const incoming_request& x, std::string_view name) {
  return static_cast<size_t>(
    std::ranges::count(x.headers, name, &net::http_header::name));
}

/// A full name may end with a dot.
bool names_this_node(const std::string& host) {
  constexpr std::string_view known[] = {"localhost.", "localhost", "127.0.0.1.",
                                        "127.0.0.1", "[::1]"};
  return std::ranges::any_of(known, [&](std::string_view name) {
    return strncasecmp(host.c_str(), name.data(), name.size()) == 0
           && (host.size() == name.size() || host[name.size()] == ':');
  });
}

/// Requires that an admitted request keeps the rules of hostile-inputs.md 2.2.
void check_admitted(const incoming_request& x, const matched_route& to,
                    bool guarded) {
  require(x.path.starts_with('/') && x.path.find('\0') == std::string::npos,
          "a path is a path");
  require(to.to->method == x.method
            || (to.to->method == "GET" && x.method == "HEAD"),
          "a route has its method");
  require(x.body.size() <= to.to->body_max, "a body is as large as its route");
  require(count_of(x, "host") == 1, "a request names one host");
  require(names_this_node(*x.header("host")), "the host is one of the node's");
  if (const auto* origin = x.header("origin"); origin != nullptr)
    require(origin->ends_with(*x.header("host")), "an origin is its own");
  if (x.method == "POST")
    require(x.header("content-type") != nullptr, "a POST says what it is");
  const auto* key = x.header("authorization");
  require(!guarded
            || (key != nullptr && key->find(credential) != std::string::npos),
          "nobody comes in without the password");
}

void check_did(std::string_view text) {
  if (const auto did = atproto::did::parse(text))
    require(did->str() == text, "a DID is read as it is written");
}

/// Reads the parameters of a route for operations or records.
template <class Request>
http_reply answer_read(const result<Request>& request) {
  if (!request)
    return net::error_reply(400, "InvalidRequest", request.error().context);
  require(request->limit > 0 && request->limit <= limits::api_page_max,
          "a page has its bounds");
  return net::json_reply(200, "[]");
}

http_reply answer_log(const incoming_request& x) {
  const auto request = parse_log_request(x);
  if (request && request->since)
    require(wire::to_text(*request->since) == *x.parameter("since"),
            "a place is read as it is written");
  return answer_read(request);
}

/// Reads what the routes read, without the store.
http_reply answer(const incoming_request& x, const matched_route& to) {
  switch (to.to->what) {
    case action::add:
    case action::remove:
    case action::resync: {
      wire::repos_request_reader reader;
      reader.put(x.body);
      const auto body = reader.finish();
      if (!body)
        return net::error_reply(400, "InvalidRequest", body.error().context);
      require(body->dids.size() <= limits::request_dids_max,
              "DIDs are counted");
      for (const auto& did : body->dids)
        check_did(did.str());
      return net::json_reply(200, "{}");
    }
    case action::list:
    case action::list_errors: {
      const auto timed = to.to->what == action::list_errors;
      const auto page
        = parse_page(x, timed ? page_order::retry : page_order::did);
      if (!page)
        return net::error_reply(400, "InvalidRequest", page.error().context);
      require(page->limit > 0 && page->limit <= limits::api_page_max,
              "a page has its bounds");
      check_did(page->after.str());
      return net::json_reply(200, "[]");
    }
    case action::operations:
      return answer_log(x);
    case action::stream_operations:
      return answer_read(parse_stream_request(x));
    case action::records:
      return answer_read(parse_records_request(x));
    default:
      check_did(to.parameter("did"));
      return net::error_reply(404, "NotFound", to.parameter("did"));
  }
}

class store_of_nothing final : public net::http_service {
public:
  store_of_nothing(port on, bool guarded)
    : on_(on), guarded_(guarded),
      access_({guarded ? "secret" : "", {}}, system_clock()) {
    // nop
  }

  size_t body_bytes_max(std::string_view method,
                        std::string_view path) override {
    const auto found = find_route(on_, method, path, false);
    return found ? found->to->body_max : 0;
  }

  std::optional<http_reply> on_head(incoming_request& head) override {
    auto refused = access_.refuse(on_, head);
    if (!refused && body_bytes_max(head.method, head.path) > 0)
      refused = refuse_content_type(head);
    if (refused)
      refused->delay = {}; // The clock does not move.
    return refused;
  }

  void on_request(incoming_request x, net::responder to) override {
    to.send(decide(x, false));
  }

  void on_upgrade(incoming_request x, net::upgrader to) override {
    to.reject(decide(x, true));
  }

  size_t asked = 0;

private:
  http_reply decide(const incoming_request& x, bool upgrade) {
    ++asked;
    const auto found = find_route(on_, x.method, x.path, upgrade);
    if (!found)
      return net::error_reply(404, "NotFound", x.path);
    check_admitted(x, *found, guarded_);
    return answer(x, *found);
  }

  const port on_;
  const bool guarded_;
  access_control access_;
};

struct answered {
  int status = 0;
  /// Not compared for a bad head, whose first error depends on the pieces.
  std::string_view rest;

  bool operator==(const answered&) const = default;
};

/// All answers, each of which must be complete.
std::vector<answered> read_answers(std::string_view text) {
  std::vector<answered> out;
  while (!text.empty()) {
    const auto parser
      = net::make_response_parser(limits::http_response_head_bytes_max);
    const auto used = parser->put_head(as_bytes(text));
    require(used.has_value() && parser->has_head(),
            "an answer's head can be read");
    const auto size = *used;
    const auto* head = &parser->head();
    auto end = size;
    // An answer to HEAD has no body, whatever its length says.
    if (head->status >= 200 && size < text.size()
        && !text.substr(size).starts_with("HTTP/1.1 ")) {
      require(head->framing == net::body_framing::sized
                && head->content_length <= text.size() - size,
              "an answer is whole");
      end += static_cast<size_t>(head->content_length);
    }
    out.push_back(
      {head->status, text.substr(0, head->status == 400 ? 0 : end)});
    text.remove_prefix(end);
  }
  return out;
}

struct conversation {
  std::string text;
  size_t asked = 0;
  bool ended = false;
};

conversation hold(bytes_view wire, uint8_t pieces, port on, bool guarded) {
  const auto network = std::make_shared<tests::memory_transport>();
  const auto service = std::make_shared<store_of_nothing>(on, guarded);
  auto server = net::make_http_server(network, service, {});
  require(server.has_value(), "a server opens");
  const auto client = network->connect();
  in_pieces(wire, pieces, [&](bytes_view piece) {
    client->feed(as_text(piece));
    return !client->closed();
  });
  conversation out{client->take(), service->asked,
                   client->closed() || client->is_shut_down()};
  server->reset();
  client->close();
  network->loop.run();
  return out;
}

void run_server(bytes_view input) {
  decisions from{input};
  const auto kind = from.next();
  const auto pieces = static_cast<uint8_t>(from.next() | 1);
  const auto on = (kind & 1) != 0 ? port::operations : port::data;
  const auto guarded = (kind & 2) != 0;
  const auto whole = hold(from.rest(), 0, on, guarded);
  const auto cut = hold(from.rest(), pieces, on, guarded);
  const auto answers = read_answers(whole.text);
  require(answers == read_answers(cut.text) && whole.asked == cut.asked
            && whole.ended == cut.ended,
          "requests read the same in any pieces");
  const auto final = std::ranges::count_if(answers, [](const answered& x) {
    return x.status >= 200;
  });
  require(static_cast<size_t>(final) >= whole.asked,
          "every request is answered");
}

std::vector<bytes> server_seeds() {
  const auto post = [](std::string_view path, std::string_view body) {
    return "POST " + std::string{path} + " HTTP/1.1\r\nHost: localhost:2480\r\n"
           + "Content-Type: application/json\r\nAuthorization: Basic "
           + std::string{credential} + "\r\nContent-Length: "
           + std::to_string(body.size()) + "\r\n\r\n" + std::string{body};
  };
  const auto get = [](std::string_view target) {
    return "GET " + std::string{target}
           + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic "
           + std::string{credential} + "\r\n\r\n";
  };
  constexpr std::string_view dids
    = R"({"dids":["did:plc:ewvi7nxzyoun6zhxrhs64oiz","did:web:a.test"]})";
  std::vector<bytes> out;
  for (const auto kind : {"\2\7", "\2\1", "\1\5"})
    for (const auto& wire :
         {get("/repos?limit=5&cursor=did:web:a.test") + get("/health"),
          get("/info/did%3Aplc%3Aewvi7nxzyoun6zhxrhs64oiz"), get("/metrics"),
          post("/repos/add", dids) + post("/repos/remove", "{\"dids\":[]}"),
          std::string{"HEAD /status HTTP/1.1\r\nHost: [::1]:1\r\n"
                      "Origin: http://[::1]:1\r\nConnection: close\r\n\r\n"},
          std::string{"POST /repos/resync HTTP/1.1\r\nHost: localhost\r\n"
                      "Content-Type: application/json\r\n"
                      "Expect: 100-continue\r\nAuthorization: Basic "
                      "YWRtaW46c2VjcmV0\r\n"
                      "Transfer-Encoding: chunked\r\n\r\n"
                      "b\r\n{\"dids\":[]}\r\n0\r\n\r\n"},
          std::string{"GET /channel HTTP/1.1\r\nHost: localhost\r\n"
                      "Authorization: basic YWRtaW46c2VjcmV0\r\n"
                      "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                      "Sec-WebSocket-Version: 13\r\n"
                      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"}})
      out.push_back(to_bytes(kind + wire));
  return out;
}

constexpr target group[] = {
  {"server", run_server, server_seeds},
};

} // namespace

std::span<const target> server_targets() {
  return group;
}

} // namespace weir::fuzz
