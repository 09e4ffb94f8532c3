#include "net/http_client.hpp"
#include "net/http_server.hpp"
#include "net/ws_client.hpp"
#include "tests/support/net_fixture.hpp"

#include <random>
#include <thread>

namespace weir::net {

namespace {

using namespace tests;

/// Sends every text back to its sender.
class echo_listener final : public ws_session_listener {
public:
  void on_text(std::string_view message) override {
    std::lock_guard guard{mutex_};
    if (session_)
      session_->send(ws_message::text(message));
  }

  void on_closed(std::string_view) override {
    std::lock_guard guard{mutex_};
    session_ = nullptr;
  }

  void use(ws_session_ptr x) {
    std::lock_guard guard{mutex_};
    session_ = std::move(x);
  }

private:
  std::mutex mutex_;
  ws_session_ptr session_;
};

/// Answers requests from another thread, and echoes WebSocket messages.
class echo_service final : public http_service {
public:
  /// Releases all sessions and all responders, which must not outlive the
  /// loops. Call it when the loops have ended, so that no more come.
  void finish() {
    for (auto& x : answering_)
      x.join();
    for (auto& x : listeners_)
      x->use(nullptr);
  }

  void on_request(incoming_request request, responder answer) override {
    std::lock_guard guard{mutex_};
    answering_.emplace_back([answer, path = std::move(request.path)] {
      answer.send(json_reply(200, path));
    });
  }

  void on_upgrade(incoming_request, upgrader answer) override {
    auto listener = std::make_shared<echo_listener>();
    listener->use(answer.accept(listener));
    std::lock_guard guard{mutex_};
    listeners_.push_back(std::move(listener));
  }

private:
  std::mutex mutex_;
  std::vector<std::thread> answering_;
  std::vector<std::shared_ptr<echo_listener>> listeners_;
};

class text_listener final : public ws_listener {
public:
  void on_open() override { opens.push(true); }

  void on_frames(std::vector<shared_bytes> x) override {
    for (auto& frame : x)
      texts.push(std::string{as_text(frame.view())});
  }

  void on_close(const ws_close_info&) override { closes.push(true); }

  inbox<bool> opens;
  inbox<std::string> texts;
  inbox<bool> closes;
};

/// Server and clients of all kinds on two io threads.
class TwoLoopsTest : public ::testing::Test {
protected:
  TwoLoopsTest() : network(make_system_transport(threads)) {
    threads.start();
    http_server_options at;
    at.at.address = ip_address::loopback_v4();
    server = *make_http_server(network, service, at);
    http_client_options options;
    options.guard = address_guard{true};
    client = make_http_client(network, options);
  }

  ~TwoLoopsTest() override {
    threads.stop();
    threads.join();
    service->finish();
  }

  url where(std::string_view scheme, int n) const {
    return *parse_url(std::string{scheme} + "://" + to_string(server->local())
                      + "/" + std::to_string(n));
  }

  ws_client_ptr connect(const std::shared_ptr<text_listener>& listener) {
    ws_client_options options;
    options.guard = address_guard{true};
    options.accepts = ws_accepts::text;
    options.target = where("ws", 0);
    auto x = make_ws_client(network, options, listener);
    x->grant(1'000'000, 1'000'000'000);
    return x;
  }

  io_threads threads{2};
  transport_ptr network;
  std::shared_ptr<echo_service> service = std::make_shared<echo_service>();
  std::shared_ptr<http_server> server;
  http_client_ptr client;
};

} // namespace

TEST_F(TwoLoopsTest, ManyCallsAtOnceEachGetTheirOwnAnswer) {
  inbox<std::pair<int, std::string>> answers;
  for (int i = 0; i < 300; ++i) {
    http_request x;
    x.target = where("http", i);
    client->get(x, [&answers, i](result<http_response> got) {
      answers.push({i, got ? std::string{as_text(got->body)} : ""});
    });
  }
  for (int i = 0; i < 300; ++i) {
    auto got = answers.pop();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->second, "/" + std::to_string(got->first));
  }
}

TEST_F(TwoLoopsTest, SessionsOnBothLoopsKeepTheirOrder) {
  std::vector<std::shared_ptr<text_listener>> listeners;
  std::vector<ws_client_ptr> clients;
  for (int i = 0; i < 8; ++i) {
    listeners.push_back(std::make_shared<text_listener>());
    clients.push_back(connect(listeners.back()));
    ASSERT_TRUE(listeners.back()->opens.pop());
  }
  for (int n = 0; n < 200; ++n)
    for (auto& x : clients)
      ASSERT_TRUE(x->send_text(std::to_string(n)));
  for (auto& x : listeners)
    for (int n = 0; n < 200; ++n)
      ASSERT_EQ(x->texts.pop(), std::to_string(n));
}

// Objects may be destroyed in any order and at any time; sanitizers detect
// errors.
TEST_F(TwoLoopsTest, EverythingMayBeDroppedWhileItWorks) {
  std::mt19937 random{7};
  for (int round = 0; round < 30; ++round) {
    auto listener = std::make_shared<text_listener>();
    auto stream = connect(listener);
    std::atomic<int> ends = 0;
    for (int i = 0; i < 5; ++i) {
      http_request x;
      x.target = where("http", i);
      auto call = client->get(x, [&ends](result<http_response>) {
        ++ends;
      });
      if (random() % 3 == 0)
        call->cancel();
    }
    stream->send_text("x");
    if (random() % 2 == 0) {
      EXPECT_TRUE(listener->texts.pop());
    }
    stream.reset();
    EXPECT_TRUE(listener->closes.pop());
    auto until = std::chrono::steady_clock::now() + patience;
    while (ends < 5 && std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
    EXPECT_EQ(ends, 5);
  }
  auto listener = std::make_shared<text_listener>();
  auto stream = connect(listener);
  ASSERT_TRUE(listener->opens.pop());
  // The fixture stops with open connections and work in progress.
}

} // namespace weir::net
