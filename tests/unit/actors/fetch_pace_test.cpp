#include "actors/supervisor/fetch_pace.hpp"
#include "actors/supervisor/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::tests {
namespace {

using namespace std::chrono_literals;
using namespace weir::actors;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto window = limits::fetch_pace_window;

std::string host_name(size_t x) {
  return "https://h" + std::to_string(x) + ".test";
}

/// Parallel downloads.
class downloads {
public:
  void start(uint64_t job, const std::string& host) {
    pace.on_started({atproto::did::trusted("did:web:a.test"), host, job}, now);
  }

  /// One complete download at this rate.
  void sample(const std::string& host, uint64_t rate, uint64_t seconds = 100) {
    start(1'000'000, host);
    pace.on_received(1'000'000, rate * seconds,
                     now + std::chrono::seconds{seconds});
  }

  /// Lets windows pass, in each of which a download gets these bytes.
  void pass(size_t windows, uint64_t job, uint64_t bytes) {
    for (size_t i = 0; i < windows; ++i) {
      total += bytes;
      pace.on_bytes(job, total);
      now = now + window;
      pace.on_timer(now);
    }
  }

  std::vector<uint64_t> slow(size_t kept = 0) const {
    std::vector<uint64_t> out;
    for (const auto& x : pace.slow(kept))
      out.push_back(x.job);
    return out;
  }

  fetch_pace pace;
  steady_time now{1'000'000};
  uint64_t total = 0;
};

uint64_t bytes_at(uint64_t rate) {
  return rate * static_cast<uint64_t>(window / 1s);
}

} // namespace

// limits::fetch_pace_standard, limits::fetch_pace_part
TEST(fetch_pace, without_others_to_compare_with_the_standard_counts) {
  downloads x;
  const auto least = limits::fetch_pace_standard / limits::fetch_pace_part;
  EXPECT_EQ(x.pace.bound(), least);
  x.start(1, host_name(1));
  x.pass(9, 1, bytes_at(least));
  EXPECT_THAT(x.slow(), IsEmpty());
  x.pass(limits::fetch_pace_windows, 1, bytes_at(least) - 5);
  EXPECT_THAT(x.slow(), ElementsAre(1u));
}

// limits::fetch_pace_windows: this many in a row, and one less
TEST(fetch_pace, a_short_stop_makes_nobody_slow) {
  downloads x;
  x.start(1, host_name(1));
  for (int i = 0; i < 5; ++i) {
    x.pass(limits::fetch_pace_windows - 1, 1, 0);
    EXPECT_THAT(x.slow(), IsEmpty());
    x.pass(1, 1, bytes_at(1'000'000));
  }
  x.pass(limits::fetch_pace_windows, 1, 0);
  EXPECT_THAT(x.slow(), ElementsAre(1u));
}

// limits::fetch_pace_window: measured after it, and not before
TEST(fetch_pace, a_window_is_measured_when_it_is_over) {
  downloads x;
  x.start(1, host_name(1));
  for (size_t i = 0; i < 10; ++i)
    x.pace.on_timer(x.now + (window - 1us));
  EXPECT_THAT(x.slow(), IsEmpty());
  x.pace.on_timer(x.now + window);
  x.pace.on_timer(x.now + 2 * window);
  EXPECT_THAT(x.slow(), ElementsAre(1u));
}

// A host that needs its time is measured from its answer on.
TEST(fetch_pace, a_patient_download_is_not_slow_before_its_answer) {
  downloads x;
  x.pace.on_started({atproto::did::trusted("did:web:a.test"), host_name(1), 1,
                     true},
                    x.now);
  x.pass(9, 1, 0);
  EXPECT_THAT(x.slow(), IsEmpty());
  EXPECT_NE(x.pace.on_answer(1, x.now), nullptr);
  EXPECT_EQ(x.pace.on_answer(1, x.now), nullptr) << "no news";
  x.pass(limits::fetch_pace_windows - 1, 1, 0);
  EXPECT_THAT(x.slow(), IsEmpty());
  x.pass(1, 1, 0);
  EXPECT_THAT(x.slow(), ElementsAre(1u));
}

TEST(fetch_pace, the_oldest_patient_ones_are_not_among_the_unanswered) {
  downloads x;
  for (uint64_t job = 1; job <= 6; ++job) {
    x.pace.on_started({atproto::did::trusted("did:web:a.test"), host_name(job),
                       job, job % 2 == 0},
                      x.now);
    x.now = x.now + 1s;
  }
  const auto unanswered = [&](size_t kept, std::chrono::seconds age) {
    std::vector<uint64_t> out;
    for (const auto& y : x.pace.unanswered(kept, x.now + -age))
      out.push_back(y.job);
    return out;
  };
  EXPECT_THAT(unanswered(0, 0s), ElementsAre(1u, 2u, 3u, 4u, 5u, 6u));
  EXPECT_THAT(unanswered(2, 0s), ElementsAre(1u, 3u, 5u, 6u));
  EXPECT_THAT(unanswered(1, 3s), ElementsAre(1u, 3u, 4u));
  EXPECT_EQ(x.pace.next_unanswered(x.now + -4s), x.now + -3s);
  EXPECT_NE(x.pace.on_answer(4, x.now), nullptr);
  EXPECT_THAT(unanswered(1, 3s), ElementsAre(1u, 3u));
  EXPECT_EQ(x.pace.next_unanswered(x.now + -4s), x.now + -2s);
  x.pace.on_ended(6);
  EXPECT_EQ(x.pace.next_unanswered(x.now + -2s), std::nullopt);
}

// limits::fetch_pace_samples_min, and one less
TEST(fetch_pace, the_median_counts_when_there_are_enough) {
  downloads x;
  const auto standard = x.pace.bound();
  for (size_t i = 0; i + 1 < limits::fetch_pace_samples_min; ++i)
    x.sample(host_name(i), 8'000'000);
  EXPECT_EQ(x.pace.bound(), standard);
  x.sample(host_name(99), 8'000'000);
  EXPECT_EQ(x.pace.bound(), 8'000'000 / limits::fetch_pace_part);
}

// limits::fetch_pace_floor: it applies whatever the median is
TEST(fetch_pace, nothing_below_the_floor_is_fast) {
  downloads x;
  for (size_t i = 0; i < limits::fetch_pace_samples_min; ++i)
    x.sample(host_name(i), 20'000);
  EXPECT_EQ(x.pace.bound(), limits::fetch_pace_floor);
}

// limits::fetch_pace_sample_bytes_min, and one less: a small download takes
// about the time of the host's first byte
TEST(fetch_pace, small_downloads_say_nothing_of_rates) {
  for (const uint64_t less : {0, 1}) {
    downloads x;
    for (size_t i = 0; i < limits::fetch_pace_samples_min; ++i) {
      x.start(5, host_name(i));
      x.pace.on_received(5, limits::fetch_pace_sample_bytes_min - less,
                         x.now + 100ms);
    }
    EXPECT_EQ(x.pace.bound() > limits::fetch_pace_standard
                                 / limits::fetch_pace_part,
              less == 0);
  }
}

// limits::fetch_pace_host_samples_max, and one more
TEST(fetch_pace, one_host_does_not_make_the_median) {
  downloads x;
  for (size_t i = 0; i <= limits::fetch_pace_host_samples_max; ++i)
    x.sample(host_name(0), 300'000);
  for (size_t i = 1; i <= limits::fetch_pace_host_samples_max; ++i)
    x.sample(host_name(i), 8'000'000);
  EXPECT_EQ(x.pace.bound(), 8'000'000 / limits::fetch_pace_part);
}

// limits::fetch_pace_samples_max, and one more
TEST(fetch_pace, old_rates_are_forgotten) {
  downloads x;
  const auto half = limits::fetch_pace_samples_max / 2;
  for (size_t i = 0; i <= half; ++i)
    x.sample(host_name(i), 800'000);
  for (size_t i = half + 1; i < limits::fetch_pace_samples_max; ++i)
    x.sample(host_name(i), 8'000'000);
  EXPECT_EQ(x.pace.bound(), 800'000 / limits::fetch_pace_part);
  x.sample(host_name(100), 8'000'000);
  EXPECT_EQ(x.pace.bound(), 8'000'000 / limits::fetch_pace_part);
}

// A share is left to hosts that cannot be faster: the oldest downloads, one for
// each host.
TEST(fetch_pace, some_slow_ones_are_kept) {
  downloads x;
  x.start(1, host_name(1));
  x.start(2, host_name(1));
  x.start(3, host_name(2));
  x.start(4, host_name(3));
  x.start(5, host_name(4));
  for (size_t i = 0; i < limits::fetch_pace_windows; ++i)
    x.pass(1, 5, bytes_at(10'000'000));
  EXPECT_THAT(x.slow(0), ElementsAre(1u, 2u, 3u, 4u));
  EXPECT_THAT(x.slow(1), ElementsAre(2u, 3u, 4u));
  EXPECT_THAT(x.slow(2), ElementsAre(2u, 4u));
  EXPECT_THAT(x.slow(9), ElementsAre(2u));
  x.pace.on_ended(2);
  EXPECT_THAT(x.slow(9), IsEmpty());
}

// Proving and comparing a repo is the node's work; the host's is done.
TEST(fetch_pace, a_body_that_is_complete_is_not_slow) {
  downloads x;
  x.start(1, host_name(1));
  x.pass(limits::fetch_pace_windows, 1, 0);
  x.pace.on_received(1, 10, x.now);
  EXPECT_THAT(x.slow(), IsEmpty());
  EXPECT_TRUE(x.pace.empty());
}

TEST(fetch_pace, the_oldest_of_each_host_are_not_beyond_its_share) {
  downloads x;
  for (uint64_t job = 1; job <= 6; ++job) {
    x.start(job, host_name(job % 2));
    x.now = x.now + 1s;
  }
  const auto beyond = [&](size_t kept, std::chrono::seconds age) {
    std::vector<uint64_t> out;
    for (const auto& y : x.pace.beyond(kept, x.now + -age))
      out.push_back(y.job);
    return out;
  };
  EXPECT_THAT(beyond(1, 0s), ElementsAre(6u, 5u, 4u, 3u));
  EXPECT_THAT(beyond(2, 0s), ElementsAre(6u, 5u));
  EXPECT_THAT(beyond(1, 3s), ElementsAre(4u, 3u));
  x.pace.on_ended(1);
  EXPECT_THAT(beyond(1, 0s), ElementsAre(6u, 5u, 4u));
}

} // namespace weir::tests
