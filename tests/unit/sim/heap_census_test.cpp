#include "tests/sim/heap_census.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace weir::tests {

namespace {

namespace heap = sim::heap;

void gain(const char* owner, size_t bytes) {
  const heap_scope scope{heap::tag_of(owner)};
  heap::gain(bytes);
}

void lose(const char* owner, size_t bytes) {
  heap::lose(heap::tag_of(owner), bytes);
}

/// Does so on another thread, as LevelDB's thread would.
void elsewhere(void (*what)(const char*, size_t), const char* owner,
               size_t bytes) {
  std::thread{[=] { what(owner, bytes); }}.join();
}

} // namespace

TEST(HeapCensusTest, WhatAllThreadsHaveIsCounted) {
  heap::count_as_simulator();
  gain("shared", 100);
  elsewhere(gain, "shared", 50);
  EXPECT_EQ(heap::live().at("shared"), 150);
  EXPECT_EQ(heap::peaks().at("shared"), 150);
}

TEST(HeapCensusTest, ABlockMayBeGivenBackByAnotherThread) {
  heap::count_as_simulator();
  gain("handed on", 100);
  elsewhere(lose, "handed on", 100);
  EXPECT_EQ(heap::live().at("handed on"), 0);
  elsewhere(gain, "handed on", 30);
  lose("handed on", 30);
  EXPECT_EQ(heap::live().at("handed on"), 0);
  EXPECT_EQ(heap::peaks().at("handed on"), 100);
}

TEST(HeapCensusTest, PeaksBeginWithWhatIsHeldWhenTheyAreForgotten) {
  heap::count_as_simulator();
  gain("forgotten", 100);
  elsewhere(gain, "forgotten", 10);
  lose("forgotten", 70);
  heap::forget_peaks();
  EXPECT_EQ(heap::peaks().at("forgotten"), 40);
  gain("forgotten", 5);
  EXPECT_EQ(heap::peaks().at("forgotten"), 45);
}

TEST(HeapCensusTest, OnlyTheThreadThatSaysSoSimulates) {
  heap::count_as_simulator();
  EXPECT_TRUE(heap::is_simulator());
  auto other = true;
  std::thread{[&] { other = heap::is_simulator(); }}.join();
  EXPECT_FALSE(other);
}

} // namespace weir::tests
