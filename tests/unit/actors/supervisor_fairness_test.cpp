#include "actors/supervisor/limits.hpp"
#include "tests/unit/actors/supervisor_queue.hpp"

#include <algorithm>
#include <functional>

namespace weir::tests::supervisors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto z_host = "https://z.test";

/// Answers look-ups with hosts and ends fetches until this number began.
void serve(queue& x, size_t starts,
           const std::function<std::string(int)>& host_of) {
  size_t answered = 0;
  size_t ended = 0;
  while (x.started.size() < starts) {
    if (answered < x.prepared.size()) {
      const auto repo = std::stoi(x.prepared[answered++].substr(9));
      x.ready(repo, host_of(repo));
    } else if (ended < x.started.size()) {
      x.end(std::stoi(x.started[ended++].substr(9)));
    } else {
      return;
    }
  }
}

/// The position in the order of permits of the last of `repos`.
size_t last_of(const queue& x, int repos) {
  size_t out = 0;
  for (int i = 0; i < repos; ++i) {
    const auto at = std::find(x.started.begin(), x.started.end(), name(i));
    out = std::max(out, static_cast<size_t>(at - x.started.begin()));
  }
  return out;
}

} // namespace

// actors.md, Who is fetched next: hosts take turns, not in alphabetical order
TEST(fair_hosts, ten_repos_that_asked_first_are_not_behind_a_hundred_thousand) {
  queue x;
  const auto host_of = [](int i) {
    return std::string{i < 10 ? z_host : a_host};
  };
  for (int i = 0; i < 100'010; ++i)
    x.wish(i);
  serve(x, 1'000, host_of);
  EXPECT_LT(last_of(x, 10), 100u);
}

// The same when they come last and their host is already known.
TEST(fair_hosts, ten_repos_that_asked_last_are_not_behind_a_hundred_thousand) {
  queue x;
  const auto host_of = [](int i) {
    return std::string{i < 10 ? z_host : a_host};
  };
  for (int i = 10; i < 100'010; ++i)
    x.wish(i, repo_status::pending, 0s, a_host);
  for (int i = 0; i < 10; ++i)
    x.wish(i, repo_status::pending, 0s, z_host);
  serve(x, 1'000, host_of);
  EXPECT_LT(last_of(x, 10), 100u);
}

// Within a host the oldest comes first.
TEST(fair_hosts, one_hosts_repos_come_in_their_order) {
  supervisor_options options;
  options.parallelism = 1;
  queue x{options};
  for (int i = 0; i < 20; ++i)
    x.wish(i, repo_status::pending, 0s, a_host);
  serve(x, 20, [](int) { return std::string{a_host}; });
  std::vector<std::string> all;
  for (int i = 0; i < 20; ++i)
    all.push_back(name(i));
  EXPECT_EQ(x.started, all);
}

// limits::fair_part: the share itself, and one more
TEST(fair_hosts, a_host_that_has_its_eighth_waits_for_one_that_has_less) {
  EXPECT_EQ(fair_share(1), 1u);
  EXPECT_EQ(fair_share(limits::fair_part), 1u);
  EXPECT_EQ(fair_share(limits::fair_part + 1), 2u);
  supervisor_options options;
  options.parallelism = 16;
  options.per_host = 16;
  queue x{options};
  for (int i = 0; i < 16; ++i)
    x.ask(i, "https://first.test");
  ASSERT_EQ(x.started.size(), 16u) << "nobody else waits";
  for (int i = 20; i < 25; ++i)
    x.ask(i, a_host);
  for (int i = 30; i < 35; ++i)
    x.ask(i, b_host);
  x.clear();
  for (int i = 0; i < 4; ++i)
    x.end(i);
  EXPECT_THAT(x.started, ElementsAre(name(20), name(30), name(21), name(31)));
  x.ask(40, z_host);
  x.clear();
  x.end(4);
  EXPECT_THAT(x.started, ElementsAre(name(40))) << "a and b have their shares";
  x.end(5);
  EXPECT_EQ(x.started.size(), 2u) << "no permit stays unused";
}

// limits::fair_part of limits::fetch_preparing_max, and one more: repos that
// wait for a host take that host's places and leave the others free
TEST(fair_hosts, those_that_wait_for_one_host_do_not_stop_look_ups) {
  supervisor_options options;
  options.parallelism = 1;
  queue x{options};
  x.ask(0, a_host); // It has the permit.
  const auto share = static_cast<int>(fair_share(options.preparing_max));
  for (int i = 1; i <= 200; ++i)
    x.ask(i, a_host);
  EXPECT_EQ(x.machine.queued(), 201u);
  x.ask(500, b_host);
  x.clear();
  x.end(0);
  x.end(1);
  EXPECT_THAT(x.started, ElementsAre(name(1), name(500)));
  EXPECT_THAT(x.prepared, ElementsAre(name(share + 1)))
    << "the next of them had no place";
}

// limits::fair_part: look-ups that hang at the hosts of did:web names leave a
// share of the places, however many domains they have
TEST(fair_hosts, look_ups_that_hang_leave_places_to_others) {
  for (const size_t domains : {1u, 1'000u}) {
    const auto hanging = [&](size_t i) {
      return atproto::did::trusted("did:web:u" + std::to_string(i) + ".hang"
                                   + std::to_string(i % domains) + ".test");
    };
    supervisor_machine machine{{}};
    const steady_time now{1};
    std::vector<std::string> asked;
    const auto take = [&](const supervisor_machine::effects& x) {
      for (const auto& repo : x.look_up)
        asked.push_back(repo.str());
    };
    const auto places = supervisor_options{}.preparing_max;
    const auto share = fair_share(places);
    for (size_t i = 0; i < 2 * places; ++i)
      take(machine.on_wish(hanging(i), repo_status::pending, {}, 0s, now));
    EXPECT_EQ(asked.size(), places - share) << domains;
    asked.clear();
    std::vector<std::string> others;
    for (size_t i = 0; i < places; ++i) {
      others.push_back("did:plc:n" + std::to_string(i));
      take(machine.on_wish(atproto::did::trusted(others.back()),
                           repo_status::pending, {}, 0s, now));
    }
    others.resize(share);
    EXPECT_EQ(asked, others) << domains;
  }
}

// actors.md, Who is fetched next; limits::refetch_turn: new repos come first,
// but a repo that fell out of sync does not wait for all of them
TEST(fair_hosts, every_eighth_look_up_is_for_a_repo_out_of_sync) {
  supervisor_options options;
  options.preparing_max = 1;
  queue x{options};
  for (int i = 0; i < 30; ++i)
    x.wish(i);
  x.wish(100, repo_status::desync);
  x.wish(101, repo_status::error);
  for (size_t i = 0; i < 16; ++i)
    x.ready(std::stoi(x.prepared[i].substr(9)), {});
  const auto turn = limits::refetch_turn;
  EXPECT_EQ(x.prepared[turn - 2], name(6));
  EXPECT_EQ(x.prepared[turn - 1], name(100));
  EXPECT_EQ(x.prepared[turn], name(7));
  EXPECT_EQ(x.prepared[2 * turn - 1], name(101));
}

// actors.md, Who is fetched next: hosts take turns, and every eighth turn is
// for repos out of sync, so that any host's are fetched
TEST(fair_hosts, a_repo_out_of_sync_has_its_turn_whichever_host_it_has) {
  supervisor_options options;
  options.parallelism = 1;
  options.preparing_max = 16;
  queue x{options};
  const auto host_of = [](int i) {
    return std::string{i % 2 == 0 ? a_host : b_host};
  };
  for (int i = 0; i < 200; ++i)
    x.wish(i, repo_status::pending, 0s, host_of(i));
  for (const auto i : {1'000, 1'001})
    x.wish(i, repo_status::desync, 0s, host_of(i));
  serve(x, 4 * limits::refetch_turn, host_of);
  for (const auto i : {1'000, 1'001})
    EXPECT_NE(std::find(x.started.begin(), x.started.end(), name(i)),
              x.started.end())
      << host_of(i);
}

// `queue_max`, and one more: the last repo of a host with more than its share
// gives its place to another host's, and the scan finds it later
TEST(fair_hosts, a_full_queue_takes_a_repo_of_another_host) {
  supervisor_options options;
  options.queue_max = 16;
  options.parallelism = 1;
  options.preparing_max = 1;
  queue x{options};
  x.ask(0, a_host); // It has the permit.
  x.ask(1, a_host); // It waits for the permit.
  for (int i = 2; i < 16; ++i)
    x.wish(i, repo_status::pending, 0s, a_host);
  x.wish(16, repo_status::pending, 0s, a_host);
  EXPECT_EQ(x.machine.queued(), 16u);
  x.wish(50, repo_status::pending, 0s, b_host);
  EXPECT_EQ(x.machine.queued(), 16u);
  serve(x, 30, [](int i) { return std::string{i < 50 ? a_host : b_host}; });
  EXPECT_NE(std::find(x.started.begin(), x.started.end(), name(50)),
            x.started.end());
  EXPECT_EQ(std::find(x.started.begin(), x.started.end(), name(15)),
            x.started.end());
  EXPECT_GE(x.scans, 1u);
}

// The same when all of them are fetched or about to be: none is taken away
TEST(fair_hosts, a_queue_that_is_full_of_fetches_takes_no_other_repo) {
  supervisor_options options;
  options.queue_max = 4;
  queue x{options};
  for (int i = 0; i < 4; ++i)
    x.ask(i, a_host);
  x.wish(50, repo_status::pending, 0s, b_host);
  EXPECT_EQ(x.machine.queued(), 4u);
  serve(x, 10, [](int) { return std::string{a_host}; });
  for (int i = 0; i < 4; ++i)
    EXPECT_NE(std::find(x.started.begin(), x.started.end(), name(i)),
              x.started.end());
}

// -- downloads that crawl -----------------------------------------------------

// A download of 20 KB/s keeps no permit from others for half an hour.
TEST(crawling_hosts, keep_one_permit_when_others_wait) {
  queue x;
  for (int i = 1; i <= 3; ++i) {
    x.ask(i, a_host);
    x.download(i);
  }
  const auto pass = [&](size_t windows) {
    for (size_t i = 0; i < windows; ++i) {
      x.pass(limits::fetch_pace_window);
      for (int repo = 1; repo <= 3; ++repo)
        x.bytes(repo, static_cast<uint64_t>(x.now.micros / 50));
    }
  };
  pass(10);
  EXPECT_THAT(x.crawling, IsEmpty()) << "nobody waits";
  x.ask(4, b_host);
  EXPECT_THAT(x.given_back, ElementsAre(name(3))) << "it has too many at once";
  pass(1);
  EXPECT_THAT(x.crawling, ElementsAre(name(2)));
  x.end(2);
  EXPECT_EQ(x.started.back(), name(4));
  x.wish(2, repo_status::pending, 0s, a_host);
  x.end(3);
  EXPECT_EQ(x.started.size(), 4u) << "its host rests";
  pass(10);
  EXPECT_EQ(x.crawling.size(), 1u) << "the first goes on";
}

// limits::host_slow_rest, which doubles; the first good fetch ends that
TEST(crawling_hosts, rest_longer_each_time) {
  supervisor_options options;
  options.parallelism = 1;
  queue x{options};
  std::vector<int64_t> rests;
  for (int i = 0; i < 6; ++i) {
    x.ask(1, a_host);
    x.download(1);
    x.bytes(1, 1); // The host sends one byte and nothing more.
    x.ask(2, b_host);
    x.pass(limits::fetch_pace_window);
    x.pass(limits::fetch_pace_window);
    ASSERT_EQ(x.crawling.size(), 1u) << i;
    x.clear();
    x.end(1);
    EXPECT_EQ(x.started.back(), name(2));
    x.end(2);
    x.timer.reset();
    x.wish(1, repo_status::pending, 0s, a_host);
    ASSERT_TRUE(x.timer);
    rests.push_back((*x.timer - x.now) / 1s);
    x.pass(900s);
    x.ready(1, {});
  }
  EXPECT_THAT(rests, ElementsAre(60, 120, 240, 480, 900, 900));
}

} // namespace weir::tests::supervisors
