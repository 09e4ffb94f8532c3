#include "simnet/event_log.hpp"

#include <gtest/gtest.h>

namespace weir::tests {

namespace {

using simnet::event_log;
using cursor_state = event_log::cursor_state;

int64_t add(event_log& log, size_t account, size_t size = 1) {
  return log.append(account, [size](int64_t seq) {
    return bytes(size, static_cast<uint8_t>(seq));
  });
}

std::vector<int64_t> numbers(const event_log& log, int64_t cursor,
                             size_t frames_max = 100,
                             size_t bytes_max = 1'000'000) {
  std::vector<int64_t> out;
  for (const auto& x : log.read(cursor, frames_max, bytes_max))
    out.push_back(x.seq);
  return out;
}

struct ear final : event_log::listener {
  void on_news() override { ++news; }

  void on_cut() override { ++cuts; }

  void on_repeat(int64_t cursor) override { repeats.push_back(cursor); }

  std::vector<int64_t> repeats;
  int news = 0;
  int cuts = 0;
};

} // namespace

// protocol-coverage.md 11.1: the cursor is exclusive.
TEST(EventLogTest, ACursorAsksForWhatIsBehindIt) {
  event_log log{{}};
  for (size_t i = 0; i < 5; ++i)
    add(log, i);
  EXPECT_EQ(numbers(log, 0), (std::vector<int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(numbers(log, 3), (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(numbers(log, 5), std::vector<int64_t>{});
  EXPECT_EQ(log.judge(0), cursor_state::good);
  EXPECT_EQ(log.judge(5), cursor_state::good);
  EXPECT_EQ(log.judge(6), cursor_state::future);
}

TEST(EventLogTest, PagesEndAtTheirBoundsButHoldAtLeastOneFrame) {
  event_log log{{}};
  for (size_t i = 0; i < 5; ++i)
    add(log, i, 100);
  EXPECT_EQ(numbers(log, 0, 2), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(numbers(log, 0, 9, 200), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(numbers(log, 0, 9, 199), (std::vector<int64_t>{1}));
  EXPECT_EQ(numbers(log, 0, 9, 1), (std::vector<int64_t>{1}));
}

TEST(EventLogTest, TheWindowForgetsTheOldestFramesAndSaysSo) {
  event_log by_number{{3, 1'000'000}};
  event_log by_size{{100, 30}};
  for (size_t i = 0; i < 5; ++i) {
    add(by_number, i);
    add(by_size, i, 10);
  }
  for (const auto* log : {&by_number, &by_size}) {
    EXPECT_EQ(numbers(*log, 0), (std::vector<int64_t>{3, 4, 5}));
    EXPECT_EQ(log->judge(1), cursor_state::outdated);
    EXPECT_EQ(log->judge(2), cursor_state::good);
  }
}

TEST(EventLogTest, AnAnnouncedLossEndsTheWindow) {
  event_log log{{}};
  add(log, 7);
  log.begin_loss(simnet::event_log::loss::gone);
  add(log, 8);
  add(log, 9);
  EXPECT_EQ(log.end_loss(true), (std::vector<size_t>{8, 9}));
  add(log, 7);
  EXPECT_EQ(numbers(log, 0), std::vector<int64_t>{4});
  EXPECT_EQ(log.judge(2), cursor_state::outdated);
  EXPECT_EQ(log.judge(3), cursor_state::good);
}

TEST(EventLogTest, ASilentLossLeavesNothingButAHole) {
  event_log log{{}};
  add(log, 7);
  log.begin_loss(simnet::event_log::loss::gone);
  add(log, 8);
  EXPECT_EQ(log.end_loss(false), std::vector<size_t>{8});
  add(log, 7);
  EXPECT_EQ(numbers(log, 0), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(log.judge(0), cursor_state::good);
}

TEST(EventLogTest, ErasingAnAccountLeavesTheOthersAndTheirNumbers) {
  event_log log{{}};
  for (size_t i = 0; i < 6; ++i)
    add(log, i % 2);
  log.erase(0);
  EXPECT_EQ(numbers(log, 0), (std::vector<int64_t>{2, 4, 6}));
  EXPECT_EQ(log.judge(0), cursor_state::good);
  EXPECT_EQ(add(log, 0), 7);
}

TEST(EventLogTest, ARestartMakesOldCursorsLieInTheFuture) {
  event_log log{{}};
  for (size_t i = 0; i < 3; ++i)
    add(log, i);
  log.restart();
  EXPECT_EQ(log.judge(3), cursor_state::future);
  EXPECT_EQ(add(log, 0), 1);
  EXPECT_EQ(numbers(log, 0), std::vector<int64_t>{1});
}

TEST(EventLogTest, ListenersHearNewsAndCutsUntilTheyAreGone) {
  event_log log{{}};
  auto listener = std::make_shared<ear>();
  log.subscribe(listener);
  add(log, 0);
  EXPECT_EQ(log.subscribers(), 1u);
  EXPECT_EQ(log.cut(), 1u);
  EXPECT_EQ(listener->news, 1);
  EXPECT_EQ(listener->cuts, 1);
  listener.reset();
  add(log, 0);
  EXPECT_EQ(log.subscribers(), 0u);
  EXPECT_EQ(log.cut(), 0u);
}

TEST(EventLogTest, TheLastEventsAreSentOnceMoreToWhoListens) {
  event_log log{{}};
  const auto x = std::make_shared<ear>();
  log.subscribe(x);
  EXPECT_EQ(log.repeat(2), 0u);
  for (size_t i = 0; i < 5; ++i)
    add(log, i);
  EXPECT_EQ(log.repeat(2), 2u);
  EXPECT_EQ(log.repeat(9), 5u);
  EXPECT_EQ(x->repeats, (std::vector<int64_t>{3, 0}));
}

TEST(EventLogTest, WhatIsHeldBackComesLateAndInOrder) {
  event_log log{{}};
  const auto x = std::make_shared<ear>();
  add(log, 0);
  log.hold_back();
  add(log, 1);
  add(log, 2);
  EXPECT_EQ(numbers(log, 0), std::vector<int64_t>{1});
  EXPECT_EQ(log.judge(3), cursor_state::good);
  EXPECT_EQ(log.repeat(9), 1u);
  log.subscribe(x);
  log.let_go();
  EXPECT_EQ(x->news, 1);
  EXPECT_EQ(numbers(log, 0), (std::vector<int64_t>{1, 2, 3}));
}

// Otherwise it would make endless frames that no client may read.
TEST(EventLogTest, NoMoreIsMadeWhileEventsAreHeldBack) {
  event_log log{{}};
  int made = 0;
  log.set_spring([&made] { ++made; });
  log.hold_back();
  log.make_more();
  EXPECT_EQ(made, 0);
  log.let_go();
  log.make_more();
  EXPECT_EQ(made, 1);
}

TEST(EventLogTest, NumbersThatBeginAnewAreHeldBackFromTheFirst) {
  event_log log{{}};
  add(log, 0);
  log.hold_back();
  log.restart();
  add(log, 1);
  EXPECT_EQ(numbers(log, 0), std::vector<int64_t>{});
  log.let_go();
  EXPECT_EQ(numbers(log, 0), std::vector<int64_t>{1});
}

} // namespace weir::tests
