#include "actors/support/limits_health.hpp"
#include "tests/unit/actors/clock_world.hpp"

// architecture.md, A wrong clock: streams that each have too few signers.
namespace weir::tests {

// limits::clock_signers_min, limits::clock_hosts_min: small streams count as
// one
TEST(clock_machine, streams_with_few_signers_are_judged_together) {
  clock_world x{1h, 3};
  x.hear(host, 0, limits::clock_signers_min - 2);
  x.hear(other_host, 100, 1);
  EXPECT_FALSE(x.suspect());
  x.hear(other_host, 101, 1);
  EXPECT_TRUE(x.suspect()) << "two of three streams";
  EXPECT_EQ(x.state().behind, 1h);
  x.set_clock(0s);
  EXPECT_FALSE(x.suspect());
  clock_world y{1h, 2};
  for (uint64_t i = 0; i < limits::clock_signers_min - 1; ++i) {
    y.hear(host, i, 1);
    y.hear_host(host, i + 1); // The same host, through the relay.
  }
  EXPECT_FALSE(y.suspect()) << "one host, whatever it is heard on";
}

// limits::clock_small_hosts_min: fewer must be most of all streams
TEST(clock_machine, many_small_streams_are_believed_where_most_are_silent) {
  constexpr uint32_t many = limits::clock_small_hosts_min;
  const auto suspect = [](uint32_t hosts, size_t streams) {
    clock_world x{1h, streams};
    for (uint32_t i = 0; i < hosts; ++i)
      x.hear(host + i, uint64_t{100} * i, 2);
    return x.suspect();
  };
  EXPECT_FALSE(suspect(many - 1, 100));
  EXPECT_TRUE(suspect(many, 100));
  EXPECT_FALSE(suspect(many - 2, 2 * (many - 2)));
  EXPECT_TRUE(suspect(many - 2, 2 * (many - 2) - 1));
}

TEST(clock_machine, small_hosts_have_votes_and_not_accounts) {
  clock_world x{0s, 6};
  for (uint32_t honest = 2; honest < 4; ++honest)
    x.hear(honest, 100 * honest, 1);
  for (uint32_t hostile = 4; hostile < 8; ++hostile)
    x.hear(hostile, 100 * hostile, limits::clock_signers_min - 1, 24h);
  EXPECT_FALSE(x.suspect()) << "four of six, with 28 of 30 accounts";
  x.hear(8, 800, 1, 24h);
  x.hear(9, 900, 1, 24h);
  EXPECT_TRUE(x.suspect()) << "six of eight";
}

// The small streams do not outvote a stream with enough signers
TEST(clock_machine, all_small_streams_have_one_vote_beside_the_large_ones) {
  clock_world x{0s, 13};
  x.hear(host, 0, limits::clock_signers_min);
  for (uint32_t i = 0; i < 12; ++i)
    x.hear(host + 1 + i, 100 + uint64_t{10} * i, 5, 24h);
  EXPECT_FALSE(x.suspect()) << "one to one";
  x.pass(limits::clock_memory + 1us);
  x.hear(host + 1, 100, 5, 24h);
  EXPECT_FALSE(x.suspect()) << "one host";
  for (uint32_t i = 1; i < 12; ++i)
    x.hear(host + 1 + i, 100 + uint64_t{10} * i, 5, 24h);
  EXPECT_TRUE(x.suspect()) << "the large one is silent";
}

TEST(clock_machine, a_host_that_has_a_vote_gets_no_second_one) {
  clock_world x{0s, 4};
  for (const auto liar : {10u, 11u}) {
    x.hear_host(liar, limits::clock_signers_min, 24h);
    x.hear(liar, 100 * liar, limits::clock_signers_min / 2, 24h);
    x.hear(host, 0, limits::clock_signers_min);
  }
  EXPECT_FALSE(x.suspect()) << "the relay to one PDS";
}

// limits::clock_hearing_max: as with any other doubt
TEST(clock_machine, a_doubt_of_small_streams_ends_by_itself) {
  clock_world x{0s, 12};
  const auto lie = [&](std::chrono::microseconds ahead) {
    for (uint32_t i = 0; i < 12; ++i)
      x.hear(host + i, uint64_t{10} * i, 5, ahead);
  };
  lie(24h);
  x.pass(limits::clock_hold);
  EXPECT_TRUE(x.suspect());
  x.pass(limits::clock_hearing_max);
  EXPECT_FALSE(x.suspect()) << "nobody repeats it";
  lie(24h);
  x.pass(limits::clock_hold);
  lie(0s);
  EXPECT_FALSE(x.suspect()) << "they agree";
  lie(24h);
  EXPECT_TRUE(x.suspect());
  x.directory();
  EXPECT_FALSE(x.suspect()) << "the directory knows better";
}

} // namespace weir::tests
