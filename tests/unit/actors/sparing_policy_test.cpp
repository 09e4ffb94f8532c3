#include "actors/node/sparing_policy.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <gmock/gmock.h>

#include <functional>
#include <latch>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace weir::actors {
namespace {

class SparingPolicyTest : public testing::Test {
protected:
  using scheduler = caf::scheduler::coordinator<sparing_policy>;

  struct threads : caf::actor_system_config {
    explicit threads(size_t count) {
      load<scheduler>();
      set("scheduler.max-threads", count);
    }
  };

  using job = std::function<void(caf::event_based_actor*)>;

  /// An actor that runs a function for each message.
  caf::actor worker(job work) { return worker_of(sys, std::move(work)); }

  static caf::actor worker_of(caf::actor_system& of, job work) {
    return of.spawn(run, std::move(work));
  }

  static sparing_policy::coordinator_data& data(caf::actor_system& of) {
    return static_cast<scheduler&>(of.scheduler()).data();
  }

  static void put_first(caf::actor_system& of, const caf::actor& x) {
    sparing_policy::put_first(data(of),
                              dynamic_cast<caf::resumable*>(
                                caf::actor_cast<caf::abstract_actor*>(x)));
  }

  static void wait_until_asleep(caf::actor_system& of, size_t count) {
    auto& x = data(of);
    for (;; std::this_thread::yield()) {
      const std::lock_guard guard{x.lock};
      if (x.sleeping.size() == count)
        return;
    }
  }

  static caf::behavior run(caf::event_based_actor* self, const job& work) {
    return {[self, work](int) { work(self); }};
  }

  threads config{2};
  caf::actor_system sys{config};
};

/// One of two threads is that of `first`, which is put first.
class FirstActorTest : public SparingPolicyTest {
protected:
  FirstActorTest() {
    wait_until_asleep(sys, 2);
    put_first(sys, first);
    caf::anon_send(first, 1);
    wait_until_asleep(sys, 2);
  }

  /// That thread is woken first, and is busy until `over`.
  void occupy_its_thread() {
    std::latch begun{1};
    const auto blocker = worker([&](caf::event_based_actor*) {
      EXPECT_EQ(std::this_thread::get_id(), ran_on);
      begun.count_down();
      over.wait();
    });
    wait_until_asleep(sys, 2); // To spawn an actor wakes a thread, too.
    caf::anon_send(blocker, 1);
    begun.wait();
  }

  std::latch over{1};
  std::thread::id ran_on; ///< Where `first` ran last.
  std::function<void()> on_first = [] {};
  caf::actor first = worker([this](caf::event_based_actor*) {
    ran_on = std::this_thread::get_id();
    on_first();
  });
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

TEST_F(SparingPolicyTest, FourWaitingActorsDoNotWaitForABusyThread) {
  std::latch over{4};
  std::latch ended{1};
  std::vector<caf::actor> others;
  for (int i = 0; i < 4; ++i)
    others.push_back(worker([&](caf::event_based_actor*) {
      over.count_down();
    }));
  const auto busy = worker([&](caf::event_based_actor* self) {
    for (const auto& x : others)
      self->send(x, 1);
    over.wait();
    ended.count_down();
  });
  wait_until_asleep(sys, 2); // To spawn an actor wakes a thread, too.
  caf::anon_send(busy, 1);
  ended.wait();
}

TEST_F(SparingPolicyTest, WhatWaitsDoesNotWaitForAnActorThatWaitsForTheDisk) {
  std::latch over{1};
  std::latch ended{1};
  const auto first = worker([&](caf::event_based_actor*) {
    sparing_policy::about_to_wait(data(sys));
    over.wait();
    ended.count_down();
  });
  put_first(sys, first);
  const auto other = worker([&](caf::event_based_actor*) {
    over.count_down();
  });
  const auto busy = worker([&](caf::event_based_actor* self) {
    self->send(other, 1);
    self->send(first, 1);
  });
  wait_until_asleep(sys, 2); // To spawn an actor wakes a thread, too.
  caf::anon_send(busy, 1);
  ended.wait();
}

// A JOURNAL goes on to its next batch in the same turn.
TEST_F(SparingPolicyTest, WhatItSendsBeforeItWaitsForTheDiskDoesNotWait) {
  std::latch over{1};
  std::latch ended{1};
  const auto other = worker([&](caf::event_based_actor*) {
    over.count_down();
  });
  const auto writer = worker([&](caf::event_based_actor* self) {
    self->send(other, 1);
    sparing_policy::about_to_wait(data(sys));
    over.wait();
    ended.count_down();
  });
  wait_until_asleep(sys, 2); // To spawn an actor wakes a thread, too.
  caf::anon_send(writer, 1);
  ended.wait();
}

TEST_F(SparingPolicyTest, TheThreadThatFellAsleepLastIsWoken) {
  threads four{4};
  caf::actor_system many{four};
  std::set<std::thread::id> seen;
  for (int i = 0; i < 20; ++i) {
    std::latch ended{1};
    // To spawn an actor wakes a thread, too.
    wait_until_asleep(many, 4);
    const auto once = worker_of(many, [&](caf::event_based_actor*) {
      seen.insert(std::this_thread::get_id());
      ended.count_down();
    });
    wait_until_asleep(many, 4);
    caf::anon_send(once, 1);
    ended.wait();
  }
  EXPECT_EQ(seen.size(), 1u);
}

TEST_F(SparingPolicyTest, AnActorThatIsPutFirstOvertakesAllThatWait) {
  threads alone{1};
  caf::actor_system one{alone};
  std::latch ended{3};
  std::vector<std::string> order;
  const auto named = [&](const std::string& name) {
    return worker_of(one, [&, name](caf::event_based_actor*) {
      order.push_back(name);
      ended.count_down();
    });
  };
  const auto a = named("a");
  const auto b = named("b");
  const auto first = named("first");
  put_first(one, first);
  const auto busy = worker_of(one, [&](caf::event_based_actor* self) {
    for (const auto& x : {a, b, first})
      self->send(x, 1);
  });
  caf::anon_send(busy, 1);
  ended.wait();
  EXPECT_THAT(order, testing::ElementsAre("first", "a", "b"));
}

// What it allocates shall come from one heap. The other thread goes on to the
// next actor meanwhile.
TEST_F(FirstActorTest, WaitsForItsThread) {
  const auto home = ran_on;
  occupy_its_thread();
  std::vector<std::string> order;
  on_first = [&] {
    order.push_back("first");
  };
  const auto later = worker([&](caf::event_based_actor*) {
    order.push_back("later");
    over.count_down();
  });
  const auto busy = worker([&](caf::event_based_actor* self) {
    self->send(later, 1);
    self->send(first, 1);
  });
  caf::anon_send(busy, 1);
  wait_until_asleep(sys, 2);
  EXPECT_THAT(order, testing::ElementsAre("later", "first"));
  EXPECT_EQ(ran_on, home);
}

// Otherwise it would wait until something else wakes that thread.
TEST_F(FirstActorTest, ItsThreadIsWokenForIt) {
  const auto home = ran_on;
  occupy_its_thread();
  std::latch asleep{1};
  std::latch ended{1};
  on_first = [&] {
    ended.count_down();
  };
  const auto sender = worker([&](caf::event_based_actor* self) {
    over.count_down();
    asleep.wait();
    self->send(first, 1);
    ended.wait();
  });
  caf::anon_send(sender, 1);
  over.wait();
  wait_until_asleep(sys, 1);
  asleep.count_down();
  wait_until_asleep(sys, 2);
  EXPECT_EQ(ran_on, home);
}

// Each waits for its disk alone: the second one does not take the thread of the
// first, although no other is free.
TEST_F(SparingPolicyTest, TwoActorsThatArePutFirstHaveDifferentThreads) {
  threads three{3};
  caf::actor_system many{three};
  std::thread::id home;
  std::thread::id other;
  const auto first = worker_of(many, [&](caf::event_based_actor*) {
    home = std::this_thread::get_id();
  });
  const auto second = worker_of(many, [&](caf::event_based_actor*) {
    other = std::this_thread::get_id();
  });
  std::latch begun{3};
  std::latch home_is_free{1};
  std::latch all_are_free{1};
  std::vector<caf::actor> blockers;
  for (int i = 0; i < 3; ++i)
    blockers.push_back(worker_of(many, [&](caf::event_based_actor*) {
      begun.count_down();
      (std::this_thread::get_id() == home ? home_is_free : all_are_free).wait();
    }));
  wait_until_asleep(many, 3); // To spawn an actor wakes a thread, too.
  put_first(many, first);
  put_first(many, second);
  caf::anon_send(first, 1);
  wait_until_asleep(many, 3);
  for (const auto& x : blockers)
    caf::anon_send(x, 1);
  begun.wait();
  caf::anon_send(second, 1);
  home_is_free.count_down();
  wait_until_asleep(many, 1);
  all_are_free.count_down();
  wait_until_asleep(many, 3);
  EXPECT_NE(other, std::thread::id{});
  EXPECT_NE(other, home);
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
