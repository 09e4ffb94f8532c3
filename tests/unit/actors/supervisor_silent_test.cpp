#include "actors/supervisor/limits.hpp"
#include "tests/unit/actors/supervisor_queue.hpp"

#include <algorithm>

// Hosts that accept connections and do not answer (actors.md, Who is fetched
// next).
namespace weir::tests::supervisors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string host_of(int x) {
  return "https://h" + std::to_string(x) + ".test";
}

supervisor_options with_permits(size_t permits) {
  supervisor_options out;
  out.parallelism = permits;
  out.per_host = std::min<size_t>(permits, 64);
  return out;
}

/// Repos that each have a host of their own, which is already known.
void ask_range(queue& x, int first, int last) {
  for (int i = first; i < last; ++i)
    x.ask(i, host_of(i));
}

void fall_silent(queue& x, int first, int last) {
  for (int i = first; i < last; ++i)
    x.host(host_of(i), host_verdict::silent);
}

/// They have permits, and their hosts answered.
void answer_range(queue& x, int first, int last) {
  for (int i = first; i < last; ++i) {
    x.download(i);
    x.bytes(i, 1);
  }
}

long started_between(const queue& x, int first, int last) {
  return std::count_if(x.started.begin(), x.started.end(), [&](auto& repo) {
    const auto i = std::stoi(repo.substr(9));
    return i >= first && i < last;
  });
}

} // namespace

// limits::fetch_answer_wait, and not a microsecond less
TEST(silent_hosts, a_download_without_an_answer_gives_its_permit_up) {
  queue x{with_permits(1)};
  x.ask(1, a_host);
  x.download(1);
  const auto began = x.now;
  x.ask(2, b_host);
  x.now = began + (limits::fetch_answer_wait - 1us);
  x.timer.reset();
  x.tick();
  EXPECT_THAT(x.unanswered, IsEmpty());
  ASSERT_TRUE(x.timer);
  EXPECT_EQ(*x.timer, began + limits::fetch_answer_wait);
  x.now = began + limits::fetch_answer_wait;
  x.tick();
  EXPECT_THAT(x.unanswered, ElementsAre(name(1)));
  x.tick();
  EXPECT_EQ(x.unanswered.size(), 1u) << "once";
  x.end(1);
  EXPECT_EQ(x.started.back(), name(2));
  x.timer.reset();
  x.wish(1, repo_status::pending, 0s, a_host);
  ASSERT_TRUE(x.timer);
  EXPECT_EQ(*x.timer, x.now + limits::host_slow_rest) << "its host rests";
}

TEST(silent_hosts, keep_their_permits_while_nobody_waits) {
  queue x{with_permits(1)};
  x.ask(1, a_host);
  x.download(1);
  x.ask(2, a_host); // It is of the same host.
  x.pass(limits::fetch_answer_wait);
  x.pass(60s);
  EXPECT_THAT(x.unanswered, IsEmpty());
  EXPECT_THAT(x.crawling, IsEmpty());
}

// One slow large repo says nothing about a host that otherwise answers.
TEST(silent_hosts, a_host_that_answered_the_last_time_is_waited_for) {
  queue x{with_permits(1)};
  x.ask(1, a_host);
  x.download(1);
  x.bytes(1, 10, true);
  x.end(1);
  x.ask(2, a_host);
  x.download(2);
  x.ask(3, b_host);
  x.pass(limits::fetch_answer_wait);
  EXPECT_THAT(x.unanswered, IsEmpty());
}

// limits::fetch_answer_wait_busy: with one host more than permits, and not a
// microsecond less
TEST(silent_hosts, a_crowd_has_less_time_each) {
  queue x{with_permits(2)};
  ask_range(x, 0, 2);
  x.download(0);
  x.download(1);
  const auto began = x.now;
  ask_range(x, 2, 4);
  x.now = began + limits::fetch_answer_wait_busy;
  x.tick();
  EXPECT_THAT(x.unanswered, IsEmpty()) << "as many as there are permits";
  x.now = began + (limits::fetch_answer_wait_busy - 1us);
  x.ask(4, host_of(4));
  EXPECT_THAT(x.unanswered, IsEmpty());
  x.now = began + limits::fetch_answer_wait_busy;
  x.tick();
  EXPECT_THAT(x.unanswered, ElementsAre(name(0), name(1)));
}

// One permit is freed for each host that waits.
TEST(silent_hosts, no_more_give_up_than_wait) {
  queue x;
  ask_range(x, 0, 3);
  for (int i = 0; i < 3; ++i)
    x.download(i);
  x.ask(3, host_of(3));
  x.pass(limits::fetch_answer_wait);
  EXPECT_THAT(x.unanswered, ElementsAre(name(0)));
}

// limits::fetch_silent_part of the permits, and not one more
TEST(silent_hosts, leave_half_of_the_permits_to_others) {
  for (const auto& [permits, most] :
       {std::pair{16, 7}, {15, 7}, {4, 1}, {3, 1}}) {
    queue x{with_permits(static_cast<size_t>(permits))};
    ask_range(x, 0, permits);
    fall_silent(x, 100, 120);
    ask_range(x, 100, 120);
    ask_range(x, 200, 220);
    x.clear();
    for (int i = 0; i < permits; ++i)
      x.end(i);
    EXPECT_EQ(started_between(x, 100, 120), most) << permits;
    EXPECT_EQ(started_between(x, 200, 220), permits - most) << permits;
  }
}

TEST(silent_hosts, have_all_permits_while_nobody_else_waits) {
  queue x{with_permits(16)};
  fall_silent(x, 100, 120);
  ask_range(x, 100, 120);
  EXPECT_EQ(started_between(x, 100, 120), 16);
}

// limits::fetch_answering_part is reserved for hosts that answer
TEST(silent_hosts, new_hosts_leave_permits_to_those_that_answer) {
  for (const auto& [permits, most] :
       {std::pair{16, 12}, {8, 6}, {3, 2}, {2, 1}}) {
    queue x{with_permits(static_cast<size_t>(permits))};
    ask_range(x, 0, permits);
    answer_range(x, 0, permits);
    ask_range(x, 100, 100 + permits);
    for (int i = 0; i < permits; ++i)
      x.ask(200 + i, host_of(i)); // A second repo of each host.
    x.clear();
    for (int i = 0; i < permits; ++i)
      x.end(i);
    EXPECT_EQ(started_between(x, 100, 200), most) << permits;
    EXPECT_EQ(started_between(x, 200, 300), permits - most) << permits;
  }
}

// limits::fetch_silent_turn, limits::fetch_untried_turn after the last one, and
// not a microsecond less
TEST(silent_hosts, have_a_turn_when_there_is_one_permit) {
  for (const auto& [silent, turn] :
       {std::pair{true, limits::fetch_silent_turn},
        {false, limits::fetch_untried_turn}}) {
    queue x{with_permits(1)};
    fall_silent(x, 0, silent ? 2 : 0);
    x.ask(0, host_of(0));
    ASSERT_EQ(x.started.back(), name(0)) << "nobody else waits";
    const auto began = x.now;
    x.ask(50, b_host);
    x.end(0);
    answer_range(x, 50, 51);
    x.ask(1, host_of(1));
    x.ask(51, b_host);
    x.ask(52, b_host);
    x.now = began + (turn - 1us);
    x.end(50);
    EXPECT_EQ(x.started.back(), name(51));
    x.now = began + turn;
    x.end(51);
    EXPECT_EQ(x.started.back(), name(1));
    x.end(1);
    EXPECT_EQ(x.started.back(), name(52));
  }
}

// Hosts that took all permits while no other waited keep their part, however
// long they take. The rest is taken from them, and those downloads continue
// later.
TEST(silent_hosts, give_back_what_others_need) {
  queue x;
  fall_silent(x, 0, 3);
  ask_range(x, 0, 3);
  for (int i = 0; i < 3; ++i)
    x.download(i);
  ask_range(x, 10, 14);
  x.pass(limits::fetch_answer_wait_busy);
  EXPECT_THAT(x.unanswered, ElementsAre(name(1), name(2)));
  x.end(1);
  x.end(2);
  EXPECT_EQ(started_between(x, 10, 14), 2);
  x.clear();
  x.wish(1, repo_status::pending, 0s, host_of(1));
  EXPECT_THAT(x.prepared, ElementsAre(name(1))) << "its host need not rest";
  x.pass(12s);
  EXPECT_THAT(x.unanswered, IsEmpty());
  EXPECT_THAT(x.crawling, IsEmpty()) << "it may take all its time";
}

// limits::fetch_silent_part of the places, and one more
TEST(silent_hosts, leave_half_of_the_places_to_others) {
  queue x{with_permits(1)};
  x.ask(0, b_host); // It has the permit.
  const auto places = static_cast<int>(supervisor_options{}.preparing_max);
  const auto most = places / static_cast<int>(limits::fetch_silent_part);
  fall_silent(x, 100, 200);
  for (int i = 100; i < 200; ++i)
    x.wish(i, repo_status::pending, 0s, host_of(i));
  EXPECT_EQ(x.prepared.size(), 1u + static_cast<size_t>(most));
  for (int i = 100; i < 100 + most; ++i)
    x.ready(i, host_of(i));
  EXPECT_EQ(x.prepared.size(), 1u + static_cast<size_t>(most))
    << "those that wait for a permit keep their places";
  x.wish(199 + 1); // Its host will be a silent one.
  x.ready(200, host_of(199));
  x.clear();
  for (int i = 300; i < 400; ++i)
    x.wish(i, repo_status::pending, 0s, host_of(i));
  EXPECT_EQ(x.prepared.size(), static_cast<size_t>(places - most))
    << "that one has none";
}

// limits::fetch_answering_part of the places, and one more
TEST(silent_hosts, new_hosts_leave_places_to_those_that_answer) {
  queue x{with_permits(1)};
  x.ask(0, b_host);
  x.download(0);
  x.bytes(0, 1);
  const auto places = supervisor_options{}.preparing_max;
  const auto share = fair_share(places);
  x.clear();
  for (int i = 1; i < 20; ++i) // More than it may have.
    x.wish(i, repo_status::pending, 0s, b_host);
  EXPECT_EQ(x.prepared.size(), share);
  for (int i = 100; i < 200; ++i)
    x.wish(i, repo_status::pending, 0s, host_of(i));
  EXPECT_EQ(x.prepared.size() - share,
            places - places / limits::fetch_answering_part);
}

// `hosts_max`: data about hosts is bounded, and forgotten after a while.
TEST(silent_hosts, are_forgotten_after_a_while_and_so_are_those_that_answer) {
  auto options = with_permits(1);
  options.hosts_max = 2;
  queue x{options};
  x.host(host_of(1), host_verdict::silent);
  for (int i = 2; i < 5; ++i) {
    x.ask(i, host_of(i));
    x.download(i);
    x.bytes(i, 10, true);
    x.end(i);
    EXPECT_EQ(x.machine.hosts(), 2u);
  }
  x.pass(limits::host_rest_max - 1us);
  x.tick();
  EXPECT_EQ(x.machine.hosts(), 2u);
  x.pass(1us);
  x.tick();
  EXPECT_EQ(x.machine.hosts(), 0u);
}

} // namespace weir::tests::supervisors
