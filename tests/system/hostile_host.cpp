#include "tests/system/hostile_host.hpp"

#include "net/url.hpp"

namespace weir::tests {

namespace {

constexpr std::string_view get_repo = "/xrpc/com.atproto.sync.getRepo?did=";

/// The percent-decoded target of a request.
std::string target_of(const std::string& head) {
  const auto begin = head.find(' ') + 1;
  return net::percent_decode(head.substr(begin, head.find(' ', begin) - begin))
    .value();
}

/// Waits without a limit for a byte or the end of the connection.
void wait_for_byte(const raw_peer& peer) {
  pollfd readable{peer.fd(), POLLIN, 0};
  poll(&readable, 1, -1);
}

} // namespace

// -- hostile_host -------------------------------------------------------------

hostile_host::hostile_host()
  : server_([this](raw_peer& peer, size_t) {
      run(peer);
    }) {
  // nop
}

void hostile_host::on(const std::string& target, script x) {
  const std::lock_guard lock{guard_};
  scripts_[target] = std::move(x);
}

void hostile_host::on_document(const atproto::did& did, script x) {
  on('/' + did.str(), std::move(x));
}

void hostile_host::publish(const test_repo& repo, const std::string& pds) {
  on_document(
    repo.did(),
    say(http_answer(200, make_document(repo.did().str(),
                                       repo.key().public_part().to_multikey(),
                                       pds))));
}

void hostile_host::on_repo(const atproto::did& did, script x) {
  on(std::string{get_repo} + did.str(), std::move(x));
}

void hostile_host::serve(const test_repo& repo) {
  on_repo(repo.did(), say(http_answer(200, as_text(repo.export_car()))));
}

void hostile_host::publish_and_serve(const test_repo& repo) {
  publish(repo, url());
  serve(repo);
}

size_t hostile_host::asked(const std::string& target) const {
  const std::lock_guard lock{guard_};
  size_t out = 0;
  for (const auto& [name, count] : asked_)
    if (name.starts_with(target))
      out += count;
  return out;
}

void hostile_host::run(raw_peer& peer) {
  wait_for_byte(peer);
  const auto head = peer.read_until("\r\n\r\n");
  if (head.empty())
    return;
  const auto target = target_of(head);
  script found;
  {
    const std::lock_guard lock{guard_};
    ++asked_[target];
    size_t longest = 0;
    for (const auto& [name, x] : scripts_)
      if (target.starts_with(name) && name.size() >= longest) {
        longest = name.size();
        found = x;
      }
  }
  if (found)
    found(peer, head);
  else
    peer.send(http_answer(404, "{}"));
}

// -- what it says -------------------------------------------------------------

std::string http_answer(int status, std::string_view body,
                        std::string_view fields) {
  std::string out
    = "HTTP/1.1 " + std::to_string(status) + " X\r\nConnection: close\r\n";
  out += fields;
  out += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  out += body;
  return out;
}

hostile_host::script say(std::string bytes) {
  return [bytes = std::move(bytes)](raw_peer& peer, const std::string&) {
    peer.send(bytes);
  };
}

std::string make_document(std::string_view did, std::string_view multikey,
                          std::string_view pds) {
  const std::string id{did};
  return R"({"id":")" + id + R"(","verificationMethod":[{"id":")" + id
         + R"(#atproto","type":"Multikey","controller":")" + id
         + R"(","publicKeyMultibase":")" + std::string{multikey}
         + R"("}],"service":[{"id":"#atproto_pds",)"
           R"("type":"AtprotoPersonalDataServer","serviceEndpoint":")"
         + std::string{pds} + R"("}]})";
}

// -- hostile_stream -----------------------------------------------------------

hostile_host::script hostile_stream::script() {
  return [this](raw_peer& peer, const std::string& head) {
    auto socket = ws_peer::accept(peer, head);
    peer.send(greeting);
    {
      const std::lock_guard lock{guard_};
      socket_ = &peer;
      opened_.notify_all();
    }
    heads.push(head);
    wire_frame last;
    do {
      wait_for_byte(peer);
      last = socket.read();
    } while (last.ok && last.opcode != net::ws_opcode::close);
    {
      const std::lock_guard lock{guard_};
      if (socket_ == &peer)
        socket_ = nullptr;
    }
    const auto* code = reinterpret_cast<const uint8_t*>(last.payload.data());
    ends.push(last.payload.size() < 2
                ? uint16_t{0}
                : static_cast<uint16_t>(code[0] << 8 | code[1]));
  };
}

bool hostile_stream::send(net::ws_opcode opcode, bytes_view payload) {
  return send_raw(net::ws_frame(opcode, payload));
}

bool hostile_stream::send_raw(bytes_view wire) {
  std::unique_lock lock{guard_};
  return opened_.wait_for(lock, patience, [this] {
    return socket_ != nullptr;
  }) && socket_->send(wire);
}

} // namespace weir::tests
