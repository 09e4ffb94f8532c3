#include "net/http_client.hpp"
#include "net/io_threads.hpp"
#include "tests/support/net_fixture.hpp"
#include "tests/support/net_scripted_server.hpp"

namespace weir::net {

namespace {

using namespace tests;

} // namespace

TEST(IoThreadsTest, WorkRunsInOrderOnOneThread) {
  io_threads threads;
  inbox<int> order;
  // Includes tasks that were posted before the start.
  for (int i = 0; i < 100; ++i)
    threads.post([&order, i] {
      order.push(i);
    });
  threads.start();
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(order.pop(), i);
}

TEST(IoThreadsTest, LoopsKnowTheirOwnThread) {
  io_threads threads{2};
  threads.start();
  EXPECT_EQ(threads.size(), 2u);
  EXPECT_FALSE(threads.loop(0).here());
  inbox<bool> seen;
  threads.loop(1).post([&] {
    seen.push(threads.loop(1).here());
    seen.push(threads.loop(0).here());
    threads.loop(1).dispatch([&] {
      seen.push(true);
    });
    seen.push(false);
  });
  for (auto x : {true, false, true, false})
    EXPECT_EQ(seen.pop(), x);
  EXPECT_NE(&threads.next_loop(), &threads.next_loop());
}

TEST(IoThreadsTest, TimersFireOnceAndInTurn) {
  io_threads threads;
  threads.start();
  auto& loop = threads.loop(0);
  inbox<int> fired;
  std::unique_ptr<timer> late;
  std::unique_ptr<timer> soon;
  std::unique_ptr<timer> cancelled;
  loop.post([&] {
    late = loop.make_timer();
    soon = loop.make_timer();
    cancelled = loop.make_timer();
    late->start(30ms, [&] {
      fired.push(3);
    });
    soon->start(1ms, [&] {
      fired.push(0);
    }); // Replaced.
    soon->start(10ms, [&] {
      fired.push(1);
    });
    cancelled->start(5ms, [&] {
      fired.push(2);
    });
    cancelled->cancel();
  });
  EXPECT_EQ(fired.pop(), 1);
  EXPECT_EQ(fired.pop(), 3);
  EXPECT_EQ(fired.size(), 0u);
}

TEST(IoThreadsTest, ATimerThatIsReplacedAtTheLastMomentDoesNotFireTwice) {
  io_threads threads;
  threads.start();
  auto& loop = threads.loop(0);
  inbox<int> fired;
  std::unique_ptr<timer> x;
  loop.post([&] {
    x = loop.make_timer();
    x->start(0ms, [&] {
      fired.push(1);
    });
    // The first alarm is due, and perhaps queued, when it is replaced.
    auto until = loop.now() + 5ms;
    while (loop.now() < until)
      continue;
    x->start(1ms, [&] {
      fired.push(2);
    });
  });
  EXPECT_EQ(fired.pop(), 2);
  EXPECT_EQ(fired.size(), 0u);
}

TEST(IoThreadsTest, NothingRunsAfterJoin) {
  inbox<bool> ran;
  {
    io_threads threads;
    threads.start();
    threads.stop();
    threads.join();
    threads.post([&ran] {
      ran.push(true);
    });
  }
  EXPECT_EQ(ran.size(), 0u);
}

TEST(IoThreadsTest, WhatWasPostedBeforeRunsWhenTheyFinish) {
  inbox<int> ran;
  io_threads threads{2};
  for (size_t i = 0; i < 2; ++i)
    threads.loop(i).post([&ran] {
      ran.push(1);
    });
  threads.finish();
  threads.post([&ran] {
    ran.push(2);
  });
  threads.start();
  threads.join();
  ASSERT_EQ(ran.size(), 2u);
  EXPECT_EQ(ran.pop(), 1);
  EXPECT_EQ(ran.pop(), 1);
}

TEST(IoThreadsTest, WorkThatIsLeftIsDestroyed) {
  auto token = std::make_shared<int>(0);
  std::weak_ptr<int> watch = token;
  {
    io_threads threads{2};
    threads.post([token] {});
    threads.loop(1).post([token] {});
    token.reset();
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

// Client, calls and loops keep each other alive while they work.
TEST(IoThreadsTest, WhoWaitsForAnAnswerIsLetGoWithTheLoops) {
  const auto asker = std::make_shared<int>();
  inbox<bool> asked;
  const scripted_server silent{[&asked](raw_peer& peer, size_t) {
    peer.read_until("\r\n\r\n");
    asked.push(true);
    peer.read_until("never");
  }};
  {
    io_threads threads;
    threads.start();
    auto network = make_system_transport(threads);
    http_client_options options;
    options.guard = address_guard{true};
    auto client = make_http_client(network, options);
    http_request x;
    x.target = parse_url(silent.origin()).value();
    client->get(x, [asker](const auto&) {
      ADD_FAILURE() << "a stopped loop is silent";
    });
    ASSERT_TRUE(asked.pop());
    threads.stop();
    threads.join();
  }
  EXPECT_EQ(asker.use_count(), 1);
}

} // namespace weir::net
