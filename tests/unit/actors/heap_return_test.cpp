#include "actors/support/heap_return.hpp"
#include "actors/support/limits.hpp"

#include <gtest/gtest.h>

// architecture.md, When memory runs short: unused memory is returned to the
// system.
namespace weir::actors {
namespace {

using namespace std::chrono_literals;
using enum memory_return;

constexpr uint64_t small = 20'000'000;
constexpr uint64_t large = small + limits::heap_return_bytes;

/// A process that has grown and is idle.
class resting {
public:
  explicit resting(uint64_t passing = 0) : passing_(passing) {
    machine_.on_measure(small, passing, false, now);
  }

  memory_return after(std::chrono::microseconds wait, uint64_t resident) {
    now = now + wait;
    return machine_.on_measure(resident, passing_, false, now);
  }

  steady_time now{1'000'000};

private:
  heap_return machine_;
  uint64_t passing_;
};

} // namespace

// limits::heap_return_bytes and one less, limits::heap_rest_time and less
TEST(heap_return, comes_when_a_process_that_has_grown_rests) {
  resting x;
  EXPECT_EQ(x.after(limits::heap_rest_time - 1us, large), nothing);
  EXPECT_EQ(x.after(1us, large - 1), nothing);
  EXPECT_EQ(x.after(0us, large), caches);
}

// limits::heap_rest_bytes and one less
TEST(heap_return, waits_while_much_is_on_its_way) {
  resting busy{limits::heap_rest_bytes};
  resting calm{limits::heap_rest_bytes - 1};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(busy.after(limits::heap_rest_time, large), nothing);
    EXPECT_EQ(calm.after(limits::heap_rest_time, large),
              i == 0 ? caches : nothing);
  }
}

// limits::cache_release_interval and less: memory that was freed is returned.
TEST(heap_return, leaves_the_caches_of_a_node_that_works_alone) {
  resting x;
  ASSERT_EQ(x.after(limits::heap_rest_time, large), caches);
  ASSERT_EQ(x.after(1s, small), nothing);
  ASSERT_EQ(x.after(limits::room_check_interval, large), freed);
  EXPECT_EQ(x.after(limits::cache_release_interval - limits::room_check_interval
                      - 1s - 1us,
                    large),
            nothing);
  EXPECT_EQ(x.after(1us, large), caches);
}

// Memory that cannot be returned is in use.
TEST(heap_return, is_not_tried_again_without_need) {
  resting x;
  ASSERT_EQ(x.after(limits::heap_rest_time, large), caches);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(x.after(limits::cache_release_interval, large), nothing);
  EXPECT_EQ(x.after(1s, large + limits::heap_return_bytes), caches);
}

// limits::room_check_interval
TEST(heap_return, is_often_while_memory_is_short) {
  heap_return x;
  steady_time now{1'000'000};
  EXPECT_EQ(x.on_measure(small, large, true, now), freed);
  now = now + (limits::room_check_interval - 1us);
  EXPECT_EQ(x.on_measure(small, large, true, now), nothing);
  now = now + 1us;
  EXPECT_EQ(x.on_measure(small, large, true, now), freed);
}

} // namespace weir::actors
