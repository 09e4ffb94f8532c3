#include "actors/identity/limits.hpp"
#include "actors/identity/lookup_pace.hpp"
#include "actors/identity/lookup_queue.hpp"

#include <gtest/gtest.h>

namespace weir::actors {
namespace {

using namespace std::chrono_literals;

constexpr steady_time begin_at{1'000'000'000};
constexpr lookup_outcome prompt{true, true, false};
constexpr lookup_outcome no_such{false, true, false};
constexpr lookup_outcome silence{};

constexpr lookup_outcome limited{false, false, true};

/// The number of look-ups that may begin in this time; none is answered.
size_t begun(lookup_pace& x, steady_time from, std::chrono::microseconds during) {
  size_t out = 0;
  for (auto now = from; now < from + during; now = now + 1ms)
    while (x.next(now) <= now) {
      x.take(now);
      ++out;
    }
  return out;
}

/// Makes one look-up after another, each with a prompt answer.
steady_time answer_promptly(lookup_pace& x, steady_time from,
                            std::chrono::microseconds during) {
  auto now = from;
  for (; now < from + during; now = now + 10ms)
    x.end(prompt, now, now + 1ms);
  return now;
}

// limits::plc_pace_start
TEST(lookup_pace, a_first_run_asks_for_hundreds_at_once) {
  lookup_pace x{500};
  EXPECT_EQ(x.per_second(), limits::plc_pace_start);
  EXPECT_EQ(begun(x, begin_at, 1ms), 200u);
  EXPECT_GT(x.next(begin_at + 1ms), begin_at + 1ms);
}

TEST(lookup_pace, it_begins_no_faster_than_there_may_be) {
  lookup_pace x{20};
  EXPECT_EQ(x.per_second(), 20);
  EXPECT_EQ(begun(x, begin_at, 1ms), 20u);
}

// limits::plc_pace_interval
TEST(lookup_pace, prompt_answers_double_it_up_to_the_most) {
  lookup_pace x{1'000};
  x.end(prompt, begin_at, begin_at + 1ms);
  EXPECT_EQ(x.per_second(), 200) << "one answer is no second";
  x.end(prompt, begin_at + 1ms, begin_at + (limits::plc_pace_interval - 1us));
  EXPECT_EQ(x.per_second(), 200);
  x.end(no_such, begin_at + 1ms, begin_at + limits::plc_pace_interval);
  EXPECT_EQ(x.per_second(), 400) << "that there is none is an answer";
  answer_promptly(x, begin_at + 1s, 2s);
  EXPECT_EQ(x.per_second(), 1'000);
}

// limits::plc_prompt, limits::plc_pace_min; five steps a second
TEST(lookup_pace, slow_answers_lower_it_and_it_grows_by_steps_then) {
  lookup_pace x{500};
  x.end(prompt, begin_at, begin_at + limits::plc_prompt);
  EXPECT_EQ(x.per_second(), 400) << "just in time";
  auto now = begin_at + limits::plc_prompt;
  now = now + limits::plc_prompt + 1us;
  x.end(prompt, begin_at + limits::plc_prompt, now);
  const auto lowered = 400 * limits::plc_slow_part;
  EXPECT_DOUBLE_EQ(x.per_second(), lowered);
  x.end(prompt, begin_at + limits::plc_prompt, now);
  EXPECT_DOUBLE_EQ(x.per_second(), lowered) << "it began before that";
  for (int i = 0; i < 20; ++i) {
    const auto began = now;
    now = now + limits::plc_prompt + 1us;
    x.end(prompt, began, now);
  }
  EXPECT_EQ(x.per_second(), limits::plc_pace_min);
  now = answer_promptly(x, now, 1s);
  EXPECT_GT(x.per_second(), limits::plc_pace_min);
  EXPECT_LE(x.per_second(),
            limits::plc_pace_min + 5 * limits::plc_step_part * 500);
  answer_promptly(x, now, 30s);
  EXPECT_EQ(x.per_second(), 500);
}

TEST(lookup_pace, a_directory_that_does_not_answer_is_asked_for_less) {
  lookup_pace x{500};
  auto now = begin_at;
  for (int i = 0; i < 20; ++i) {
    now = now + 1ms;
    x.end(silence, now, now);
  }
  EXPECT_EQ(x.per_second(), limits::plc_pace_min);
}

TEST(lookup_pace, few_look_ups_a_second_are_not_lowered_to_more) {
  lookup_pace x{5};
  x.end(silence, begin_at, begin_at);
  EXPECT_EQ(x.per_second(), 5);
  lookup_pace y{0.1};
  y.end(limited, begin_at, begin_at);
  EXPECT_EQ(y.per_second(), 0.1);
}

// Retry-After; limits::plc_rest_min
TEST(lookup_pace, nothing_is_asked_before_the_time_that_a_limit_names) {
  lookup_pace x{500};
  x.rest(30s, begin_at + 1ms);
  x.end(limited, begin_at, begin_at + 1ms);
  EXPECT_EQ(x.per_second(), limits::plc_pace_start * limits::plc_limited_part);
  EXPECT_EQ(x.next(begin_at + 1ms), begin_at + 1ms + 30s);
  x.rest(5s, begin_at + 2ms);
  x.end(limited, begin_at, begin_at + 2ms);
  EXPECT_EQ(x.per_second(), 100) << "it began before that";
  EXPECT_EQ(x.next(begin_at + 2ms), begin_at + 1ms + 30s) << "the longer one";
  EXPECT_EQ(begun(x, begin_at + 2ms, 29s), 0u);
  EXPECT_TRUE(x.rests(begin_at + 30s));
  EXPECT_FALSE(x.rests(begin_at + 1ms + 30s));
  EXPECT_EQ(begun(x, begin_at + 1ms + 30s, 1ms), 100u);
  // limits::plc_rest_max
  lookup_pace z{500};
  z.rest(limits::plc_rest_max, begin_at);
  EXPECT_EQ(z.next(begin_at), begin_at + limits::plc_rest_max);
  lookup_pace too_long{500};
  too_long.rest(limits::plc_rest_max + 1s, begin_at);
  EXPECT_EQ(too_long.next(begin_at), begin_at + limits::plc_rest_max);
  lookup_pace y{500};
  y.rest(0s, begin_at);
  EXPECT_EQ(y.next(begin_at), begin_at + limits::plc_rest_min);
}

TEST(lookup_pace, a_limit_may_make_it_slower_than_a_slow_answer) {
  lookup_pace x{500};
  auto now = begin_at;
  for (int i = 0; i < 20; ++i) {
    now = now + 2s;
    x.end(limited, now, now);
  }
  EXPECT_EQ(x.per_second(), 1);
}

// The directory's limits do not apply to the hosts of did:web names.
TEST(lookup_queue, a_directory_that_limits_us_holds_up_no_did_web_name) {
  lookup_queue x{500, 64};
  const auto plc = atproto::did::trusted("did:plc:a");
  const auto web = atproto::did::trusted("did:web:a.test");
  x.push(plc, lookup_cause::newcomer);
  ASSERT_EQ(x.next(begin_at), plc);
  x.rest_directory(60s, begin_at);
  x.done(plc, limited, begin_at);
  x.push(plc, lookup_cause::newcomer);
  EXPECT_FALSE(x.next(begin_at));
  EXPECT_EQ(x.due(begin_at), begin_at + 60s);
  x.push(web, lookup_cause::newcomer);
  ASSERT_EQ(x.next(begin_at), web);
  x.done(web, limited, begin_at);
  EXPECT_FALSE(x.next(begin_at + (60s - 1us)));
  EXPECT_EQ(x.next(begin_at + 60s), plc);
}

} // namespace
} // namespace weir::actors
