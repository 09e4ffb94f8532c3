#include "actors/support/limits_health.hpp"
#include "atproto/limits.hpp"
#include "tests/unit/actors/clock_world.hpp"

// architecture.md, A wrong clock: many signers against one clock.
namespace weir::tests {

// limits::clock_signers_min
TEST(clock_machine, a_clock_that_many_are_beyond_is_doubted_and_holds_intake) {
  clock_world x{1h};
  x.hear(relay, 0, limits::clock_signers_min - 1);
  x.hear(relay, 0, 1); // No signer counts twice.
  EXPECT_FALSE(x.suspect());
  EXPECT_EQ(x.verdict(relay), clock_verdict::undecided);
  x.hear(relay, 100, 1);
  EXPECT_TRUE(x.holds());
  EXPECT_EQ(x.verdict(relay), clock_verdict::suspect);
  EXPECT_EQ(x.verdict(host), clock_verdict::suspect);
  EXPECT_EQ(x.state().behind, 1h);
}

// protocol-coverage.md 2.1.4: a difference of five minutes is normal
TEST(clock_machine, a_clock_that_is_within_the_bound_is_right) {
  clock_world x{limits::rev_future_max};
  x.hear(relay, 0, 20);
  EXPECT_FALSE(x.suspect());
  EXPECT_EQ(x.verdict(relay), clock_verdict::right);
}

TEST(clock_machine, a_few_who_are_beyond_are_at_fault) {
  clock_world x;
  x.hear(relay, 0, limits::clock_signers_min);
  x.hear(relay, 100, 3 * limits::clock_signers_min - 4, 1h);
  EXPECT_FALSE(x.suspect()) << "fewer than three of four hosts";
  EXPECT_EQ(x.verdict(relay), clock_verdict::right);
  x.hear(relay, 200, 1, 1h);
  EXPECT_TRUE(x.suspect());
}

// limits::clock_hosts_min: signing more often gives no more weight
TEST(clock_machine, the_accounts_of_one_host_behind_a_relay_hold_nobody) {
  clock_world x;
  x.hear_host(1, 1'000, 24h);
  EXPECT_FALSE(x.suspect()) << "nobody else was heard";
  EXPECT_EQ(x.verdict(relay), clock_verdict::undecided);
  for (uint64_t name = 2; name <= limits::clock_hosts_min; ++name)
    x.hear_host(name, 1);
  EXPECT_EQ(x.verdict(relay), clock_verdict::right);
  x.hear_host(1, 1'000, 24h);
  EXPECT_FALSE(x.suspect()) << "a thousand to one, and one host to one";
}

// A small relay: three of four accounts belong to an attacker
TEST(clock_machine, hosts_have_votes_and_not_accounts) {
  clock_world x;
  for (uint64_t honest = 1; honest <= 3; ++honest)
    x.hear_host(honest, 2);
  for (uint64_t hostile = 4; hostile <= 5; ++hostile)
    x.hear_host(hostile, 100, 1h);
  EXPECT_FALSE(x.suspect()) << "two hosts of five";
  EXPECT_EQ(x.verdict(relay), clock_verdict::right);
  for (uint64_t more = 6; more <= 12; ++more)
    x.hear_host(more, 1, 1h);
  EXPECT_TRUE(x.suspect()) << "nine of twelve";
}

// limits::clock_hosts_max, limits::clock_host_signers_max: samples are fair
TEST(clock_machine, many_hosts_are_sampled_in_their_proportions) {
  clock_world x;
  for (uint64_t i = 0; i < 10 * limits::clock_hosts_max; ++i)
    x.hear_host(i, limits::clock_host_signers_max + 1, i % 2 == 0 ? 0s : 24h);
  EXPECT_FALSE(x.suspect());
  EXPECT_EQ(x.verdict(relay), clock_verdict::right);
}

// One account whose clock is wrong does not decide for its host
TEST(clock_machine, a_host_says_what_most_of_its_signers_say) {
  clock_world x;
  for (uint64_t i = 1; i <= 8; ++i) {
    x.hear_host(i, 1);
    x.hear(relay, 4 * i, 1, 24h); // Another account of the same host.
  }
  EXPECT_FALSE(x.suspect());
}

// limits::clock_witness_memory: hosts cost little, but there is only one
// directory
TEST(clock_machine, while_the_directory_agrees_nobody_raises_a_doubt) {
  clock_world x;
  x.directory(limits::rev_future_max);
  x.hear(relay, 0, 1'000, 24h);
  EXPECT_FALSE(x.suspect());
  EXPECT_EQ(x.verdict(relay), clock_verdict::right);
  x.pass(limits::clock_witness_memory);
  x.hear(relay, 0, 1'000, 24h);
  EXPECT_FALSE(x.suspect());
  x.pass(1us);
  x.hear(relay, 0, 1'000, 24h);
  EXPECT_TRUE(x.suspect()) << "it said so too long ago";
  x.directory();
  EXPECT_FALSE(x.suspect());
  EXPECT_FALSE(x.holds());
}

TEST(clock_machine, a_directory_that_is_beyond_our_clock_vouches_for_nothing) {
  clock_world x{limits::rev_future_max + 1us};
  x.directory();
  x.hear(relay, 0, limits::clock_signers_min);
  EXPECT_TRUE(x.suspect());
  x.directory();
  EXPECT_TRUE(x.suspect());
  clock_world y;
  y.directory();
  y.set_clock(1h); // The directory need not be asked about this again.
  y.hear(relay, 0, limits::clock_signers_min);
  EXPECT_TRUE(y.suspect());
}

TEST(clock_machine, the_accounts_of_one_host_do_not_stop_the_others) {
  clock_world x{0s, 3};
  x.hear(host, 0, 1'000, 24h);
  EXPECT_FALSE(x.suspect()) << "nobody else was heard";
  EXPECT_EQ(x.verdict(host), clock_verdict::right)
    << "its revs are at fault";
  x.hear(relay, 2'000, limits::clock_signers_min);
  EXPECT_FALSE(x.suspect());
  x.hear(other_host, 3'000, limits::clock_signers_min, 24h);
  EXPECT_TRUE(x.suspect()) << "two of three";
}

TEST(clock_machine, the_only_stream_is_believed_whatever_it_is) {
  clock_world x{1h};
  x.hear(host, 0, limits::clock_signers_min);
  EXPECT_TRUE(x.suspect());
}

// While catching up, revs of an hour ago say nothing about now
TEST(clock_machine, old_revs_are_no_evidence) {
  clock_world x{1h};
  x.hear(relay, 0, 1'000, -2h);
  EXPECT_EQ(x.verdict(relay), clock_verdict::undecided);
  x.hear(relay, 0, limits::clock_signers_min);
  EXPECT_TRUE(x.suspect());
}

// limits::clock_memory
TEST(clock_machine, what_was_heard_counts_for_a_minute) {
  clock_world x{1h};
  x.hear(relay, 0, limits::clock_signers_min - 1);
  x.pass(limits::clock_memory);
  x.hear(relay, 100, 1);
  EXPECT_TRUE(x.suspect());
  clock_world y{1h};
  y.hear(relay, 0, limits::clock_signers_min - 1);
  y.pass(limits::clock_memory + 1us);
  y.hear(relay, 100, 1);
  EXPECT_FALSE(y.suspect());
}

TEST(clock_machine, the_doubt_ends_when_the_clock_is_set_right) {
  clock_world x{1h};
  x.hear(relay, 0, 20);
  x.set_clock(30min);
  EXPECT_TRUE(x.suspect()) << "not yet right";
  x.set_clock(0s);
  EXPECT_FALSE(x.suspect());
  EXPECT_EQ(x.verdict(relay), clock_verdict::undecided);
  EXPECT_EQ(x.state().corrections, 2u);
}

// Time alone makes no clock right, because the signers' clocks advance as well
TEST(clock_machine, the_doubt_outlasts_the_revs_that_began_it) {
  clock_world x{6min};
  x.hear(relay, 0, 20);
  x.pass(10min);
  EXPECT_TRUE(x.suspect());
}

// limits::clock_hold: otherwise a crowd that lies once would stop a node for
// ever
TEST(clock_machine, after_a_minute_signers_are_heard_again) {
  clock_world x;
  x.hear(relay, 0, 100, 24h);
  x.pass(limits::clock_hold - 1us);
  EXPECT_TRUE(x.holds());
  x.pass(1us);
  EXPECT_TRUE(x.suspect());
  EXPECT_FALSE(x.holds());
  x.hear(relay, 500, limits::clock_signers_min, 24h);
  EXPECT_TRUE(x.holds()) << "they say the same";
  x.pass(limits::clock_hold);
  x.hear(relay, 900, limits::clock_signers_min);
  EXPECT_FALSE(x.suspect()) << "the clock is right after all";
  EXPECT_EQ(x.verdict(relay), clock_verdict::right);
}

// limits::clock_hearing_max: those that raised the doubt are gone, and no other
// signs
TEST(clock_machine, a_doubt_that_nobody_repeats_ends) {
  clock_world x;
  x.hear(relay, 0, 100, 24h);
  EXPECT_EQ(x.verdict(relay), clock_verdict::suspect);
  x.pass(limits::clock_hold);
  EXPECT_EQ(x.verdict(relay), clock_verdict::hearing);
  EXPECT_TRUE(is_suspect(x.verdict(relay)));
  x.hear(relay, 200, limits::clock_signers_min - 1); // Too few to end it.
  x.pass(limits::clock_hearing_max - 1us);
  EXPECT_TRUE(x.suspect());
  x.pass(1us);
  EXPECT_FALSE(x.suspect());
  EXPECT_EQ(x.verdict(relay), clock_verdict::undecided);
}

TEST(clock_machine, who_repeats_a_doubt_begins_its_time_anew) {
  clock_world x{1h};
  x.hear(relay, 0, 20);
  for (int i = 0; i < 10; ++i) {
    x.pass(limits::clock_hold);
    x.pass(limits::clock_hearing_max - 1us);
    x.hear(relay, 0, limits::clock_signers_min);
    EXPECT_TRUE(x.holds()) << i;
  }
}

// Evidence from before does not count, whichever stream asks first
TEST(clock_machine, a_clock_that_was_set_just_now_has_no_verdict) {
  clock_world x;
  x.hear(relay, 0, 50);
  EXPECT_EQ(x.verdict(relay), clock_verdict::right);
  EXPECT_EQ(x.machine.verdict(relay, x.now, x.wall() + -1h),
            clock_verdict::undecided);
}

// limits::clock_step
TEST(clock_machine, a_clock_that_was_set_makes_evidence_void) {
  clock_world x;
  x.hear(relay, 0, 50);
  x.set_clock(limits::clock_step - 1us);
  EXPECT_EQ(x.verdict(relay), clock_verdict::right);
  EXPECT_EQ(x.state().corrections, 0u);
  x.set_clock(2h);
  EXPECT_EQ(x.verdict(relay), clock_verdict::undecided);
  EXPECT_EQ(x.state().corrections, 0u) << "it was set back";
  x.hear(relay, 100, limits::clock_signers_min);
  EXPECT_TRUE(x.suspect());
}

// limits::rev_future_max, limits::clock_witness_memory
TEST(clock_machine, a_directory_whose_date_differs_is_told_of_for_a_while) {
  for (const auto sign : {1, -1}) {
    clock_world x;
    EXPECT_FALSE(x.state().directory_ahead);
    x.directory(sign * limits::rev_future_max, false);
    EXPECT_FALSE(x.state().directory_ahead);
    x.directory(sign * (limits::rev_future_max + 1us), false);
    EXPECT_EQ(x.state().directory_ahead, sign * (limits::rev_future_max + 1us));
    EXPECT_FALSE(x.suspect()) << "one word holds nobody up";
    x.pass(limits::clock_witness_memory);
    EXPECT_TRUE(x.state().directory_ahead);
    x.pass(1us);
    EXPECT_FALSE(x.state().directory_ahead);
  }
}

TEST(clock_machine, a_clock_that_was_set_agrees_with_the_directory_at_once) {
  clock_world x{1h};
  x.directory();
  EXPECT_EQ(x.state().directory_ahead, 1h);
  x.set_clock(0s);
  EXPECT_FALSE(x.state().directory_ahead);
}

// A mirror on the same machine has the same clock.
TEST(clock_machine, only_a_proved_date_vouches_for_our_clock) {
  for (const bool proved : {true, false}) {
    clock_world x{1h};
    x.directory(-1h, proved);
    x.hear(relay, 0, 20);
    EXPECT_EQ(x.suspect(), !proved);
  }
}

} // namespace weir::tests
