#pragma once

#include "net/http_client.hpp"
#include "net/io_threads.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir::tests {

/// Answers requests at once with the test's script, and records them.
class scripted_client final : public net::http_client {
public:
  using script = std::function<result<net::http_response>(
    const net::http_request& request)>;

  explicit scripted_client(script x) : script_(std::move(x)) {}

  net::http_call_ptr get(net::http_request request,
                         net::http_handler done) override {
    auto answer = answer_to(request);
    if (answer && answer->body.size() > request.limits.body_bytes_max)
      answer = fail(ec::limit_reached, "body too large");
    requests.push_back(std::move(request));
    done(std::move(answer));
    return nullptr;
  }

  net::http_call_ptr stream(net::http_request request,
                            std::shared_ptr<net::http_sink> sink) override {
    struct call final : net::http_call {
      void cancel() override {}
      void grant(uint64_t) override {}
    };
    auto answer = answer_to(request);
    requests.push_back(std::move(request));
    if (answer) {
      sink->on_head(*answer);
      sink->on_body(answer->body);
    }
    sink->on_end(answer ? result<void>{} : answer.error());
    return std::make_shared<call>();
  }

  std::vector<net::http_request> requests;
  std::chrono::microseconds takes{0}; ///< How long each answer takes.

private:
  result<net::http_response> answer_to(const net::http_request& request) {
    if (takes > request.limits.total)
      return fail(ec::unreachable, "no answer in time");
    return script_(request);
  }

  script script_;
};

inline net::http_response answer_with(int status, std::string_view body) {
  net::http_response out;
  out.status = status;
  out.body.assign(body.begin(), body.end());
  return out;
}

/// Answers look-ups of TXT values and nothing else.
class txt_transport final : public net::transport {
public:
  net::event_loop& next_loop() noexcept override { return threads_.loop(0); }

  void dial(net::event_loop&, const net::endpoint&, std::chrono::microseconds,
            net::stream_handler done) override {
    done(fail(ec::unreachable, "nobody is there"));
  }

  result<std::unique_ptr<net::listener>> listen(const net::endpoint&,
                                                net::accept_handler) override {
    return fail(ec::unreachable, "not here");
  }

  void resolve(
    net::event_loop&, std::string,
    std::function<void(result<std::vector<net::ip_address>>)> done) override {
    done(fail(ec::not_found, "no such name"));
  }

  void resolve_txt(
    net::event_loop&, std::string name,
    std::function<void(result<std::vector<std::string>>)> done) override {
    ++asked;
    const auto found = values.find(name);
    if (failed)
      return done(*failed);
    if (found == values.end())
      return done(fail(ec::not_found, "no such name"));
    done(found->second);
  }

  std::map<std::string, std::vector<std::string>> values;
  std::optional<error> failed; ///< The error of every look-up.
  size_t asked = 0;

private:
  net::io_threads threads_{1}; ///< Never started: nothing is posted.
};

/// Takes the place of an actor and receives its messages.
class bridge_world : public testing::Test {
protected:
  template <class Handle>
  Handle as() {
    return caf::actor_cast<Handle>(
      caf::actor_cast<caf::strong_actor_ptr>(self->address()));
  }

  template <class Message>
  std::optional<Message> next() {
    std::optional<Message> out;
    self->receive(
      [&](Message& x) {
        out = std::move(x);
      },
      caf::after(std::chrono::seconds{10}) >>
        [] {
          ADD_FAILURE() << "no message";
        });
    return out;
  }

  caf::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
};

} // namespace weir::tests
