#include "actors/supervisor/limits.hpp"
#include "tests/unit/actors/supervisor_queue.hpp"

// Permits beyond a host's share (SYNC-11).
namespace weir::tests::supervisors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Parallel downloads that are fast enough.
void download_all(queue& x, const std::vector<int>& repos,
                  std::chrono::microseconds time) {
  constexpr auto step = 1s;
  for (auto over = 0us; over < time; over += step) {
    for (const auto repo : repos)
      x.bytes(repo, static_cast<uint64_t>(x.now.micros));
    x.pass(step);
  }
}

/// One host gets all three permits while no other waits.
void take_all(queue& x) {
  for (int i = 1; i <= 3; ++i) {
    x.ask(i, a_host);
    x.download(i);
  }
  ASSERT_EQ(x.started.size(), 3u);
}

} // namespace

// limits::fetch_keep_min, and not a microsecond less
TEST(shared_permits, a_host_gives_back_what_it_got_while_nobody_waited) {
  queue x;
  take_all(x);
  const auto began = x.now;
  download_all(x, {1, 2, 3}, limits::fetch_keep_min - 1s);
  for (int i = 10; i < 20; ++i)
    x.ask(i, b_host);
  x.now = began + (limits::fetch_keep_min - 1us);
  x.tick();
  EXPECT_THAT(x.given_back, IsEmpty());
  x.now = began + limits::fetch_keep_min;
  x.tick();
  EXPECT_THAT(x.given_back, ElementsAre(name(3))) << "one at a time";
  x.end(3);
  EXPECT_EQ(x.started.back(), name(10));
  EXPECT_THAT(x.given_back, ElementsAre(name(3), name(2)))
    << "it still has more than the host that waits";
  x.end(2);
  EXPECT_EQ(x.started.back(), name(11));
  download_all(x, {1, 10, 11}, 30min);
  EXPECT_EQ(x.given_back.size(), 2u) << "its share it keeps";
  EXPECT_THAT(x.crawling, IsEmpty());
}

// Even a crowd of other hosts does not take a host's share.
TEST(shared_permits, the_oldest_download_of_a_host_goes_on) {
  queue x;
  take_all(x);
  for (int host = 0; host < 10; ++host)
    x.ask(10 + host, "https://h" + std::to_string(host) + ".test");
  download_all(x, {1, 2, 3}, limits::fetch_keep_min);
  x.end(3);
  x.end(2);
  for (int i = 0; i < 5; ++i) {
    x.download(10 + i);
    download_all(x, {1}, limits::fetch_keep_min);
    x.end(10 + i);
  }
  EXPECT_THAT(x.given_back, ElementsAre(name(3), name(2)));
}

// A host that is alone keeps all permits for any time.
TEST(shared_permits, nobody_gives_back_while_nobody_waits) {
  queue x;
  take_all(x);
  for (int i = 10; i < 20; ++i)
    x.ask(i, a_host);
  download_all(x, {1, 2, 3}, 30min);
  EXPECT_THAT(x.given_back, IsEmpty());
  x.end(1);
  EXPECT_EQ(x.started.back(), name(10)) << "and the next at once";
}

// limits::fetch_modest_time, and not a microsecond less
TEST(shared_permits, whoever_gave_back_comes_last_for_more_than_its_share) {
  for (const auto& [wait, next] :
       {std::pair{limits::fetch_modest_time - 1us, 11},
        {limits::fetch_modest_time, 4}}) {
    queue x;
    take_all(x);
    x.ask(10, b_host);
    download_all(x, {1, 2, 3}, limits::fetch_keep_min);
    ASSERT_THAT(x.given_back, ElementsAre(name(3)));
    const auto gave = x.now;
    x.end(3);
    ASSERT_EQ(x.started.back(), name(10));
    x.ask(4, a_host); // It comes first, and then:
    x.ask(11, b_host);
    x.now = gave + wait;
    x.end(2);
    EXPECT_EQ(x.started.back(), name(next));
  }
}

// limits::fetch_reserve_time, and not a microsecond less
TEST(shared_permits, the_last_one_is_kept_when_a_host_had_to_wait) {
  queue x;
  take_all(x);
  x.ask(10, b_host);
  download_all(x, {1, 2, 3}, limits::fetch_keep_min);
  x.end(3);
  ASSERT_EQ(x.started.back(), name(10));
  x.ask(4, a_host);
  x.end(10);
  EXPECT_EQ(x.started.back(), name(10)) << "host a has two";
  x.ask(11, b_host);
  EXPECT_EQ(x.started.back(), name(11)) << "at once";
  const auto used = x.now;
  x.end(11);
  x.now = used + (limits::fetch_reserve_time - 1us);
  x.tick();
  EXPECT_EQ(x.started.back(), name(11));
  x.now = used + limits::fetch_reserve_time;
  x.tick();
  EXPECT_EQ(x.started.back(), name(4));
  EXPECT_THAT(x.given_back, ElementsAre(name(3)));
}

// With two busy hosts no permit stays unused.
TEST(shared_permits, the_last_one_is_not_kept_when_nobody_needs_it) {
  queue x;
  take_all(x);
  x.ask(10, b_host);
  download_all(x, {1, 2, 3}, limits::fetch_keep_min);
  x.end(3);
  for (int i = 4; i < 10; ++i) {
    x.ask(i, a_host);
    x.ask(10 + i, b_host);
  }
  x.end(2);
  x.pass(limits::fetch_reserve_time);
  x.clear();
  x.end(1); // Then the next repo is of a host that has no permit.
  EXPECT_EQ(x.started.size(), 1u);
  x.end(10);
  EXPECT_EQ(x.started.size(), 2u) << "all three are used";
}

} // namespace weir::tests::supervisors
