#include "actors/supervisor/listing_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::tests {
namespace {

using namespace std::chrono_literals;
using namespace weir::actors;

constexpr steady_time t0{1'000'000'000};

/// Pages of one listing, answered one after another.
class listing {
public:
  explicit listing(listing_options options = {}) : machine(options) {
    // nop
  }

  bool begin(uint32_t upstream = 1, steady_time now = t0) {
    last = machine.on_wanted(upstream, now);
    return last.fetch.has_value();
  }

  /// @returns true when another page is asked for.
  bool page(const std::string& cursor, size_t fresh = 10,
            uint32_t upstream = 1) {
    last = machine.on_page(upstream, cursor, fresh, t0);
    return last.fetch.has_value();
  }

  listing_machine machine;
  listing_machine::effects last;
};

// SYNC-19; protocol.md 9.1
TEST(listing_machine, pages_follow_each_other_until_there_is_no_cursor) {
  listing x;
  ASSERT_TRUE(x.begin(7));
  EXPECT_EQ(x.last.fetch->upstream, 7u);
  EXPECT_EQ(x.last.fetch->cursor, "");
  ASSERT_TRUE(x.page("c1", 10, 7));
  EXPECT_EQ(x.last.fetch->cursor, "c1");
  EXPECT_FALSE(x.page("", 10, 7));
  EXPECT_TRUE(x.last.finished);
  EXPECT_EQ(x.machine.finished(), 1u);
}

// requirements.md 3b.18: a full listing again, every 24 hours
TEST(listing_machine, an_upstream_is_listed_again_after_the_interval) {
  listing x;
  x.begin();
  x.page("");
  ASSERT_TRUE(x.last.timer);
  EXPECT_EQ(*x.last.timer - t0, 24h);
  EXPECT_FALSE(x.machine.on_timer(t0 + (24h - 1us)).fetch);
  const auto out = x.machine.on_timer(t0 + 24h);
  ASSERT_TRUE(out.fetch);
  EXPECT_EQ(out.fetch->cursor, "");
}

// protocol.md 9.2: what fails is tried soon, what is not offered is not
TEST(listing_machine, a_failed_page_is_tried_again_and_a_missing_route_later) {
  for (const auto& [code, wait] :
       std::initializer_list<std::pair<ec, std::chrono::seconds>>{
         {ec::unreachable, 60s}, {ec::not_found, 24h}}) {
    listing x;
    x.begin();
    const auto out = x.machine.on_page(1, fail(code), 0, t0);
    EXPECT_FALSE(out.fetch);
    ASSERT_TRUE(out.timer);
    EXPECT_EQ(*out.timer - t0, wait);
    EXPECT_EQ(x.machine.finished(), 0u);
    EXPECT_TRUE(x.machine.on_timer(*out.timer).fetch);
  }
}

// CONS-24: a reset during a listing asks for one more
TEST(listing_machine, a_listing_wanted_meanwhile_begins_when_this_one_ends) {
  listing x;
  x.begin();
  x.page("c1");
  EXPECT_FALSE(x.begin());
  ASSERT_TRUE(x.page("c2"));
  ASSERT_TRUE(x.page(""));
  EXPECT_EQ(x.last.fetch->cursor, "");
  EXPECT_FALSE(x.page(""));
  EXPECT_EQ(x.machine.finished(), 2u);
}

// reliability.md 2.1, endless listings: a cursor that comes twice
TEST(listing_machine, a_cursor_that_comes_twice_ends_the_listing) {
  listing x;
  x.begin();
  EXPECT_TRUE(x.page("c1"));
  EXPECT_TRUE(x.page("c2"));
  EXPECT_FALSE(x.page("c1"));
  EXPECT_TRUE(x.last.finished);
  EXPECT_TRUE(x.begin());
  EXPECT_TRUE(x.page("c1")); // Forgotten with the run.
}

// reliability.md 2.1: `idle_pages_max` in a row, and one less
TEST(listing_machine, pages_without_a_new_repo_end_the_listing) {
  listing x;
  x.begin();
  EXPECT_TRUE(x.page("c1", 0));
  EXPECT_TRUE(x.page("c2", 0));
  EXPECT_TRUE(x.page("c3", 1));
  EXPECT_TRUE(x.page("c4", 0));
  EXPECT_TRUE(x.page("c5", 0));
  EXPECT_FALSE(x.page("c6", 0));
}

// reliability.md 2.1: `pages_max`
TEST(listing_machine, a_listing_has_a_last_page) {
  listing_options options;
  options.pages_max = 3;
  listing x{options};
  x.begin();
  EXPECT_TRUE(x.page("c1"));
  EXPECT_TRUE(x.page("c2"));
  EXPECT_FALSE(x.page("c3"));
  EXPECT_TRUE(x.last.finished);
}

// architecture.md 2: upstreams are listed apart from each other
TEST(listing_machine, upstreams_do_not_share_a_listing) {
  listing x;
  EXPECT_TRUE(x.begin(1));
  EXPECT_TRUE(x.begin(2));
  EXPECT_TRUE(x.page("c1", 10, 1));
  EXPECT_TRUE(x.page("c1", 10, 2));
  EXPECT_FALSE(x.page("", 10, 1));
  EXPECT_TRUE(x.page("c2", 10, 2));
  EXPECT_FALSE(x.page("c9", 10, 3));
  EXPECT_FALSE(x.page("c9", 10, 1)); // Its listing has ended.
}

// architecture.md 2: two that are due begin one after the other
TEST(listing_machine, the_timer_comes_back_for_the_second_that_is_due) {
  listing x;
  for (const uint32_t upstream : {1u, 2u}) {
    x.begin(upstream);
    x.page("", 10, upstream);
  }
  const auto first = x.machine.on_timer(t0 + 24h);
  ASSERT_TRUE(first.fetch);
  ASSERT_TRUE(first.timer);
  EXPECT_LE(*first.timer, t0 + 24h);
  const auto second = x.machine.on_timer(t0 + 24h);
  ASSERT_TRUE(second.fetch);
  EXPECT_NE(first.fetch->upstream, second.fetch->upstream);
  EXPECT_FALSE(second.timer);
}

} // namespace
} // namespace weir::tests
