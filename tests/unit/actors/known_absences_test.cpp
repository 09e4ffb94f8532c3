#include "actors/supervisor/known_absences.hpp"
#include "actors/supervisor/limits_accounts.hpp"

#include <gtest/gtest.h>

/// Relays that do not carry all hosts and are listed repeatedly.
namespace weir::tests {
namespace {

using namespace std::chrono_literals;
using namespace actors;

constexpr auto host = "https://pds.test";
constexpr steady_time start{1'000'000'000};

atproto::did did_of(size_t n) {
  return atproto::did::trusted("did:plc:repo" + std::to_string(n));
}

// protocol-coverage.md 4.5; limits::known_absence_memory: just before its end
// and at it
TEST(known_absences, what_a_host_answered_is_asked_again_half_a_day_later) {
  known_absences x{10};
  EXPECT_TRUE(x.on_left_out(1, did_of(1), host, start));
  EXPECT_TRUE(x.on_left_out(1, did_of(1), host, start)) << "no answer came";
  x.on_answered(did_of(1), host);
  for (const auto later : {0us, limits::known_absence_memory - 1us}) {
    EXPECT_FALSE(x.on_left_out(1, did_of(1), host, start + later));
    EXPECT_TRUE(x.on_left_out(1, did_of(2), host, start + later));
  }
  EXPECT_FALSE(
    x.on_left_out(1, did_of(1), host, start + limits::known_absence_memory));
  EXPECT_TRUE(x.on_left_out(1, did_of(1), host,
                            start + 2 * limits::known_absence_memory));
}

TEST(known_absences, a_day_without_a_listing_ends_it_too) {
  known_absences x{10};
  x.on_left_out(1, did_of(1), host, start);
  x.on_answered(did_of(1), host);
  EXPECT_TRUE(x.on_left_out(1, did_of(1), host,
                            start + 2 * limits::known_absence_memory));
}

// Otherwise a relay that never carried the host would hide a deletion from the
// one that does
TEST(known_absences, another_relay_that_leaves_it_out_is_news) {
  known_absences x{10};
  x.on_left_out(1, did_of(1), host, start);
  x.on_answered(did_of(1), host);
  EXPECT_TRUE(x.on_left_out(2, did_of(1), host, start + 1h));
  EXPECT_TRUE(x.on_left_out(1, did_of(1), host, start + 1h));
  x.on_answered(did_of(1), host);
  EXPECT_FALSE(x.on_left_out(2, did_of(1), host, start + 1h));
  EXPECT_FALSE(x.on_left_out(1, did_of(1), host, start + 1h));
}

TEST(known_absences, another_host_of_the_account_is_asked) {
  known_absences x{10};
  x.on_left_out(1, did_of(1), host, start);
  x.on_answered(did_of(1), "https://other.test");
  EXPECT_TRUE(x.on_left_out(1, did_of(1), host, start));
  x.on_answered(did_of(1), host);
  EXPECT_TRUE(x.on_left_out(1, did_of(1), "https://other.test", start));
  EXPECT_FALSE(x.on_left_out(1, did_of(1), host, start));
}

// The limit, and one more, which is asked about each time
TEST(known_absences, so_many_are_remembered_and_no_more) {
  constexpr size_t most = 5;
  known_absences x{most};
  for (size_t n = 0; n <= most; ++n) {
    EXPECT_TRUE(x.on_left_out(1, did_of(n), host, start));
    x.on_answered(did_of(n), host);
  }
  EXPECT_EQ(x.size(), most);
  EXPECT_EQ(x.bytes(), most * limits::known_absence_bytes);
  for (size_t n = 0; n <= most; ++n)
    EXPECT_EQ(x.on_left_out(1, did_of(n), host, start), n == most);
}

} // namespace
} // namespace weir::tests
