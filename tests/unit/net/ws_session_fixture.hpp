#pragma once

#include "net/http_server.hpp"
#include "tests/support/net_fixture.hpp"
#include "tests/support/net_raw_peer.hpp"
#include "tests/support/net_ws_peer.hpp"

namespace weir::net {

/// Records the calls of a session's listener.
class recording_session_listener final : public ws_session_listener {
public:
  void on_text(std::string_view message) override {
    texts.push(std::string{message});
  }

  void on_binary(bytes_view message) override {
    binaries.push(std::string{as_text(message)});
  }

  void on_drained() override { drains.push(true); }

  void on_closed(std::string_view reason) override {
    closes.push(std::string{reason});
  }

  tests::inbox<std::string> texts;
  tests::inbox<std::string> binaries;
  tests::inbox<bool> drains;
  tests::inbox<std::string> closes;
};

/// Passes upgrades to the test.
class upgrade_service final : public http_service {
public:
  void on_request(incoming_request, responder answer) override {
    answer.send(json_reply(200, "{}"));
  }

  void on_upgrade(incoming_request request, upgrader answer) override {
    upgrades.push({std::move(request), std::move(answer)});
  }

  tests::inbox<std::pair<incoming_request, upgrader>> upgrades;
};

/// A server that accepts WebSocket connections, one session at a time.
class WsSessionFixture : public tests::NetFixture {
protected:
  WsSessionFixture() {
    http_server_options at;
    at.at.address = ip_address::loopback_v4();
    auto made = make_http_server(network, service, at);
    EXPECT_TRUE(made);
    server = *made;
  }

  /// Connects and accepts; the peer is the client's end.
  tests::ws_peer connect(tests::raw_peer& socket) {
    std::thread accepting{[this] {
      accept();
    }};
    auto peer = tests::ws_peer::ask(socket);
    accepting.join();
    return peer;
  }

  void accept() {
    auto upgrade = service->upgrades.pop();
    ASSERT_TRUE(upgrade);
    listener = std::make_shared<recording_session_listener>();
    session = upgrade->second.accept(listener, options);
    ASSERT_TRUE(session);
  }

  tests::raw_peer dial(int receive_bytes = 0) {
    return tests::raw_peer::dial(server->local().port, nullptr, receive_bytes);
  }

  /// Sends `message` until the queue is full; returns the number that was
  /// taken.
  size_t fill(const ws_message& message) {
    size_t n = 0;
    while (session->send(message))
      ++n;
    return n;
  }

  std::shared_ptr<upgrade_service> service
    = std::make_shared<upgrade_service>();
  std::shared_ptr<http_server> server;
  ws_session_options options;
  std::shared_ptr<recording_session_listener> listener;
  ws_session_ptr session;
};

} // namespace weir::net
