#include "actors/router/wake_machine.hpp"

#include <gmock/gmock.h>

#include <utility>

namespace weir::actors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using waking = wake_machine<int>;

/// With this number of REPOs a shard that keeps three awake is full.
constexpr size_t shard_full = 3 * limits::awake_factor_max + 1;

atproto::did waking_repo(size_t i) {
  return atproto::did::trusted("did:web:r" + std::to_string(i) + ".test");
}

/// Frames of these repos, with the repos' numbers as seqs.
waking::frames repo_batch(uint32_t stream, const std::vector<size_t>& repos) {
  waking::frames out;
  for (const auto i : repos) {
    atproto::stamped_frame x;
    x.at = {stream, 1, i};
    x.repo = waking_repo(i);
    out.push_back(std::move(x));
  }
  return out;
}

constexpr auto all_wake = [](const auto&) {
  return true;
};
constexpr auto none_wakes = [](const auto&) {
  return false;
};

/// The waking of one shard that keeps three REPOs awake.
struct waking_shard {
  waking machine{3};

  /// @returns the seqs of frames that need not wait
  template <class Wakes>
  std::vector<uint64_t> take(uint32_t stream, const std::vector<size_t>& repos,
                             Wakes wakes, size_t residents = shard_full) {
    std::vector<uint64_t> out;
    for (const auto& x : machine.take(repo_batch(stream, repos), residents, wakes))
      out.push_back(x.at.seq);
    return out;
  }

  void wait(uint32_t stream, const std::vector<size_t>& repos) {
    EXPECT_THAT(take(stream, repos, all_wake), IsEmpty());
  }

  /// The next frame's seq; 0: none.
  uint64_t next(size_t residents = 0) {
    const auto out = machine.next_frame(residents);
    return out ? out->at.seq : 0;
  }
};

// architecture.md, When memory runs short: limits::awake_factor_max times
// as many, and one more
TEST(wake_machine, a_batch_passes_as_long_as_it_cannot_make_a_crowd) {
  waking_shard x;
  EXPECT_THAT(x.take(7, {1, 2, 3}, all_wake, shard_full - 3),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(x.take(7, {4, 5, 6}, all_wake, shard_full - 2), IsEmpty());
}

TEST(wake_machine, frames_go_on_while_one_more_repo_makes_no_crowd) {
  waking_shard x;
  x.wait(7, {1, 2});
  EXPECT_EQ(x.next(shard_full), 0u);
  EXPECT_EQ(x.next(shard_full - 1), 1u);
  EXPECT_EQ(x.next(shard_full), 0u);
  EXPECT_EQ(x.next(), 2u);
}

TEST(wake_machine, a_stream_keeps_its_order_and_each_has_its_turn) {
  waking_shard x;
  x.wait(7, {1, 2});
  x.wait(7, {3});
  x.wait(8, {11, 12});
  x.wait(9, {21});
  std::vector<uint64_t> all;
  while (x.machine.has_frames())
    all.push_back(x.next());
  EXPECT_THAT(all, ElementsAre(1, 11, 21, 2, 12, 3));
  EXPECT_EQ(x.next(), 0u);
}

TEST(wake_machine, a_stream_that_comes_back_waits_for_its_turn) {
  waking_shard x;
  x.wait(7, {1});
  x.wait(8, {11, 12});
  EXPECT_EQ(x.next(), 1u);
  x.wait(7, {2});
  EXPECT_EQ(x.next(), 11u);
  EXPECT_EQ(x.next(), 2u);
  EXPECT_EQ(x.next(), 12u);
}

TEST(wake_machine, what_wakes_nobody_passes) {
  waking_shard x;
  const auto second = [](const auto& frame) { return frame.at.seq == 2; };
  EXPECT_THAT(x.take(7, {1, 2, 3}, second), ElementsAre(1, 3));
  EXPECT_EQ(x.next(), 2u);
}

TEST(wake_machine, no_frame_overtakes_another_of_its_repo_and_stream) {
  waking_shard x;
  auto first = true;
  const auto once = [&first](const auto&) {
    return std::exchange(first, false);
  };
  EXPECT_THAT(x.take(7, {1, 1, 2}, once), ElementsAre(2)) << "of one batch";
  EXPECT_THAT(x.take(7, {1, 2}, none_wakes), ElementsAre(2))
    << "of any later one";
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(x.next(), 1u);
  EXPECT_THAT(x.take(7, {1}, none_wakes, 0), IsEmpty()) << "nor with room";
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(x.next(), 1u);
  EXPECT_THAT(x.take(7, {1}, none_wakes), ElementsAre(1))
    << "none of it waits any more";
  EXPECT_FALSE(x.machine.has_frames());
  x.wait(7, {1, 2});
  EXPECT_EQ(x.next(), 1u);
  EXPECT_THAT(x.take(7, {1}, none_wakes), ElementsAre(1))
    << "another one waits";
}

// Otherwise a stranger who names a repo could delay frames of its own host.
TEST(wake_machine, a_frame_that_waits_holds_up_no_other_stream) {
  waking_shard x;
  x.wait(7, {1});
  EXPECT_THAT(x.take(8, {1}, none_wakes), ElementsAre(1));
}

TEST(wake_machine, frames_that_are_read_again_do_not_wait) {
  waking_shard x;
  x.machine.add(1);
  x.wait(7, {1});
  x.machine.forget_frames();
  EXPECT_FALSE(x.machine.has_frames());
  EXPECT_EQ(x.next(), 0u);
  EXPECT_THAT(x.take(7, {1}, none_wakes), ElementsAre(1));
  EXPECT_EQ(x.machine.next_command(0), 1) << "a command does not come again";
}

// -- commands -----------------------------------------------------------------

waking with_commands(size_t resident_max, int commands) {
  waking out{resident_max};
  for (int i = 1; i <= commands; ++i)
    out.add(i);
  return out;
}

TEST(wake_machine, commands_at_work_are_half_of_the_residents_and_no_more) {
  auto x = with_commands(4, 4);
  EXPECT_EQ(x.next_command(0), 1);
  EXPECT_EQ(x.next_command(1), 2);
  EXPECT_EQ(x.next_command(2), std::nullopt);
  x.done();
  EXPECT_EQ(x.next_command(2), 3);
  EXPECT_EQ(x.next_command(3), std::nullopt);
}

TEST(wake_machine, one_command_at_a_time_while_too_many_have_not_ended) {
  auto x = with_commands(4, 3);
  EXPECT_EQ(x.next_command(6), 1);
  EXPECT_EQ(x.next_command(6), std::nullopt);
  EXPECT_EQ(x.next_command(5), 2) << "one below";
  x.done();
  x.done();
  EXPECT_EQ(x.next_command(1'000), 3);
}

TEST(wake_machine, no_command_overtakes_one_that_has_to_wait) {
  auto x = with_commands(4, 1);
  EXPECT_EQ(x.next_command(0), 1);
  x.add(2);
  EXPECT_EQ(x.next_command(6), std::nullopt);
  x.add(3);
  EXPECT_EQ(x.next_command(0), 2);
  x.done();
  EXPECT_EQ(x.next_command(0), 3);
}

TEST(wake_machine, the_smallest_shard_has_one_command_at_work) {
  for (const size_t resident_max : {0, 1}) {
    auto x = with_commands(resident_max, 2);
    EXPECT_EQ(x.next_command(0), 1);
    EXPECT_EQ(x.next_command(0), std::nullopt);
    x.done();
    EXPECT_EQ(x.next_command(0), 2);
    EXPECT_EQ(x.next_command(0), std::nullopt);
  }
}

} // namespace
} // namespace weir::actors
