#include "actors/node/sparing_policy.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <utility>
#include <vector>

namespace weir::actors {
namespace {

class SparingPolicyTest : public testing::Test {
protected:
  struct two_threads : caf::actor_system_config {
    two_threads() {
      load<caf::scheduler::coordinator<sparing_policy>>();
      set("scheduler.max-threads", size_t{2});
    }
  };

  using job = std::function<void(caf::event_based_actor*)>;

  /// An actor that runs a function for each message.
  caf::actor worker(job work) { return sys.spawn(run, std::move(work)); }

  static caf::behavior run(caf::event_based_actor* self, const job& work) {
    return {[self, work](int) { work(self); }};
  }

  two_threads config;
  caf::actor_system sys{config};
};

/// Sends each number on to the next actor, smaller by one.
caf::behavior pass_on(caf::event_based_actor* self,
                      const std::vector<caf::actor>* all, size_t place,
                      std::latch* ended) {
  return {[=](int left) {
    if (left == 0)
      ended->count_down();
    else
      self->send((*all)[(place + 1) % all->size()], left - 1);
  }};
}

} // namespace

TEST_F(SparingPolicyTest, WorkFromOutsideDoesNotWaitForABusyThread) {
  std::latch begun{1};
  std::latch over{1};
  std::latch ended{1};
  const auto busy = worker([&](caf::event_based_actor*) {
    begun.count_down();
    over.wait();
    ended.count_down();
  });
  const auto other = worker([&](caf::event_based_actor*) {
    over.count_down();
  });
  caf::anon_send(busy, 1);
  begun.wait();
  caf::anon_send(other, 1);
  ended.wait();
}

TEST_F(SparingPolicyTest, TwoFromOutsideAtOnceDoNotWaitForEachOther) {
  for (int i = 0; i < 500; ++i) {
    std::latch over{1};
    std::latch ended{1};
    const auto first = worker([&](caf::event_based_actor*) {
      over.wait();
      ended.count_down();
    });
    const auto second = worker([&](caf::event_based_actor*) {
      over.count_down();
    });
    caf::anon_send(first, 1);
    caf::anon_send(second, 1);
    ended.wait();
  }
}

TEST_F(SparingPolicyTest, TwoWaitingActorsDoNotWaitForABusyThread) {
  std::latch over{2};
  std::latch ended{1};
  const auto one = worker([&](caf::event_based_actor*) { over.count_down(); });
  const auto two = worker([&](caf::event_based_actor*) { over.count_down(); });
  const auto busy = worker([&](caf::event_based_actor* self) {
    self->send(one, 1);
    self->send(two, 1);
    over.wait();
    ended.count_down();
  });
  caf::anon_send(busy, 1);
  ended.wait();
}

TEST_F(SparingPolicyTest, NoMessageIsLeftBehind) {
  constexpr int rounds = 20'000;
  constexpr size_t count = 8;
  std::latch ended{count};
  std::vector<caf::actor> all;
  for (size_t i = 0; i < count; ++i)
    all.push_back(sys.spawn(pass_on, &all, i, &ended));
  for (const auto& x : all)
    caf::anon_send(x, rounds);
  ended.wait();
}

} // namespace weir::actors
