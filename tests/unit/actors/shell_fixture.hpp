#pragma once

#include "actors/support/context.hpp"
#include "base/log.hpp"
#include "messages/caf_types.hpp"
#include "tests/support/manual_clock.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

// Tests of actor shells, one message at a time: CAF's test scheduler runs them
// in the test's own thread, on a clock that only the test moves.

namespace weir::tests {

using namespace std::chrono_literals;

inline atproto::did shell_repo(size_t i) {
  return atproto::did::trusted("did:web:r" + std::to_string(i) + ".test");
}

/// Takes the place of any actor and keeps the messages that it gets.
class probe {
public:
  /// The answer to requests.
  using answer_type = caf::message;

  explicit probe(caf::actor_system& system, answer_type answer = {})
    : got_(std::make_shared<std::vector<caf::message>>()),
      self_(system.spawn(run, got_, owed_, std::move(answer))) {
    // nop
  }

  /// A handle of the type that the test needs.
  template <class Handle>
  Handle as() const {
    return caf::actor_cast<Handle>(self_);
  }

  /// Removes and returns the messages of one kind, without the handles that
  /// came with them; other messages stay.
  template <class T>
  std::vector<T> take() {
    std::vector<T> out;
    std::erase_if(*got_, [&out](const caf::message& x) {
      const auto fits = !x.empty() && x.match_element<T>(0);
      if (fits)
        out.push_back(x.get_as<T>(0));
      return fits;
    });
    return out;
  }

  /// Like `take`, with the handles that came with the messages.
  template <class T, class Handle>
  std::vector<std::pair<T, Handle>> take_with() {
    std::vector<Handle> handles;
    for (const auto& x : *got_)
      if (x.match_elements<T, Handle>())
        handles.push_back(x.get_as<Handle>(1));
    std::vector<std::pair<T, Handle>> out;
    for (auto& x : take<T>())
      out.emplace_back(std::move(x), handles.at(out.size()));
    return out;
  }

  template <class T>
  size_t count() {
    return take<T>().size();
  }

  /// How many messages of any kind came and were not taken.
  size_t left() const { return got_->size(); }

  /// From now on requests wait for `answer_now` or `answer_first`.
  void delay_answers() { owed_->emplace(); }

  void answer_now() const { caf::anon_send(self_, caf::ok_atom::value); }

  /// Gives this answer to the request that has waited longest; an error means
  /// that none comes.
  template <class Reply>
  void answer_first(const Reply& x) const {
    caf::anon_send(self_, caf::put_atom::value, caf::make_message(x));
  }

  /// Fails all requests that wait for an answer.
  void fail_answers() const {
    caf::anon_send(self_, caf::delete_atom::value);
  }

  /// Ends the actor as an exception does.
  void die() const {
    caf::anon_send_exit(self_, caf::exit_reason::unhandled_exception);
  }

  /// Ends the actor in order.
  void end() const { caf::anon_send(self_, caf::unit); }

private:
  using messages = std::shared_ptr<std::vector<caf::message>>;
  /// No value: requests are answered at once.
  using promises
    = std::shared_ptr<std::optional<std::vector<caf::response_promise>>>;

  static caf::behavior run(caf::event_based_actor* self, const messages& got,
                           const promises& owed, const answer_type& answer) {
    self->set_default_handler(
      [=](caf::scheduled_actor*,
          caf::message_view& x) -> caf::result<caf::message> {
        got->push_back(x.move_content_to_message());
        if (*owed && self->current_message_id().is_request()) {
          (*owed)->push_back(self->make_response_promise());
          return (*owed)->back();
        }
        if (self->current_message_id().is_request())
          return answer;
        // It is not a request.
        return caf::delegated<caf::message>{};
      });
    return {[self](caf::unit_t) { self->quit(); },
            [owed, answer](caf::ok_atom) {
              auto waiting = std::exchange(*owed, std::nullopt);
              for (auto& x : *waiting)
                x.deliver(answer);
            },
            [owed](caf::put_atom, caf::message& x) {
              auto first = (*owed)->front();
              (*owed)->erase((*owed)->begin());
              if (x.match_elements<caf::error>())
                first.deliver(x.get_as<caf::error>(0));
              else
                first.deliver(std::move(x));
            },
            [owed](caf::delete_atom) {
              if (auto waiting = std::exchange(*owed, std::nullopt))
                for (auto& x : *waiting)
                  x.deliver(caf::make_error(caf::sec::request_receiver_down));
            }};
  }

  messages got_;
  promises owed_ = std::make_shared<promises::element_type>();
  caf::actor self_;
};

class ShellFixture : public testing::Test {
protected:
  ShellFixture() : sys(config) {
    shared->time = &time;
    shared->random = random.get();
  }

  ~ShellFixture() override {
    shared->clear();
    for (const auto& x : started)
      caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
    run();
  }

  /// Runs everything that was sent.
  void run() { scheduler().run(); }

  /// Lets time pass and runs what became due.
  void pass(std::chrono::microseconds x) {
    run();
    time.advance(x);
    scheduler().advance_time(x);
    run();
  }

  template <class Handle, class... Ts>
  void tell(const Handle& to, Ts&&... xs) {
    caf::anon_send(to, std::forward<Ts>(xs)...);
    run();
  }

  /// Ends the actor with the test.
  template <class Handle>
  Handle keep(Handle x) {
    started.push_back(caf::actor_cast<caf::actor>(x));
    run();
    return x;
  }

  struct test_config : caf::actor_system_config {
    test_config() {
      set("scheduler.policy", caf::atom("testing"));
      set("logger.verbosity", caf::atom("quiet"));
      log::configure(log::level::off, log::format::text);
    }
  };

  caf::scheduler::test_coordinator& scheduler() {
    return dynamic_cast<caf::scheduler::test_coordinator&>(sys.scheduler());
  }

  test_config config;
  caf::actor_system sys;
  manual_clock time;
  const std::unique_ptr<random_source> random = seeded_random(1);
  actors::context_ptr shared = std::make_shared<actors::context>();
  actors::home_ptr home = shared->partitions().front();
  std::vector<caf::actor> started;
};

} // namespace weir::tests
