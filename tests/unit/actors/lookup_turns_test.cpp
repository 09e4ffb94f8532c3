#include "actors/identity/limits.hpp"
#include "actors/identity/lookup_queue.hpp"
#include "actors/support/limits.hpp"
#include "tests/unit/actors/identity_world.hpp"

#include <map>
#include <string>
#include <vector>

/// Look-ups for one host together with those of others.
namespace weir::tests::identities {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto first_host = "first.test";
constexpr auto second_host = "second.test";
constexpr auto third_host = "third.test";

std::vector<int> taken(lookup_turns& x, lookup_cause cause, size_t count) {
  std::vector<int> out;
  for (size_t i = 0; i < count && !x.empty(cause); ++i)
    out.push_back(std::stoi(x.take(cause)->str().substr(9)));
  return out;
}

TEST(lookup_turns, hosts_have_turns_and_each_its_oldest_first) {
  lookup_turns x;
  for (const auto i : {1, 2, 3, 4})
    x.add(repo_of(i), lookup_cause::again, first_host);
  for (const auto i : {11, 12})
    x.add(repo_of(i), lookup_cause::again, second_host);
  x.add(repo_of(21), lookup_cause::again, third_host);
  EXPECT_EQ(x.hosts(), 3u);
  EXPECT_THAT(taken(x, lookup_cause::again, 4), ElementsAre(1, 11, 21, 2));
  x.add(repo_of(22), lookup_cause::again, third_host);
  EXPECT_THAT(taken(x, lookup_cause::again, 9), ElementsAre(12, 3, 22, 4));
  EXPECT_EQ(x.size(), 0u);
  EXPECT_EQ(x.hosts(), 0u) << "nothing is kept of who is gone";
  EXPECT_FALSE(x.take(lookup_cause::again));
}

TEST(lookup_turns, each_cause_has_turns_of_its_own) {
  lookup_turns x;
  for (const auto i : {1, 2, 3})
    x.add(repo_of(i), lookup_cause::rotation, first_host);
  x.add(repo_of(4), lookup_cause::newcomer, first_host);
  x.add(repo_of(11), lookup_cause::newcomer, second_host);
  EXPECT_THAT(taken(x, lookup_cause::rotation, 1), ElementsAre(1));
  EXPECT_THAT(taken(x, lookup_cause::newcomer, 9), ElementsAre(4, 11));
  EXPECT_TRUE(x.empty(lookup_cause::newcomer));
  EXPECT_EQ(x.hosts(), 1u);
}

// The first asker for a DID does not decide how long it waits
TEST(lookup_turns, one_that_two_hosts_want_waits_with_the_fewer) {
  lookup_turns x;
  for (int i = 1; i <= 100; ++i)
    x.add(repo_of(i), lookup_cause::again, first_host);
  x.add(repo_of(200), lookup_cause::again, second_host);
  x.share(repo_of(100), second_host);
  x.share(repo_of(200), first_host); // It would not be better off there.
  x.share(repo_of(300), first_host); // It does not wait.
  EXPECT_EQ(x.size(), 101u);
  EXPECT_THAT(taken(x, lookup_cause::again, 4), ElementsAre(1, 200, 2, 100));
}

TEST(lookup_turns, the_youngest_of_the_host_that_has_most_makes_room) {
  lookup_turns x;
  for (const auto i : {1, 2, 3})
    x.add(repo_of(i), lookup_cause::rotation, first_host);
  x.add(repo_of(11), lookup_cause::retry, second_host);
  EXPECT_EQ(x.displace(lookup_cause::again, second_host), repo_of(3));
  EXPECT_EQ(x.displace(lookup_cause::again, third_host), repo_of(2));
  EXPECT_EQ(x.size(), 2u);
  EXPECT_FALSE(x.displace(lookup_cause::newcomer, third_host))
    << "nobody has more than it would have";
  EXPECT_FALSE(x.displace(lookup_cause::rotation, first_host));
  EXPECT_EQ(x.displace(lookup_cause::again, second_host), repo_of(11))
    << "its own, for a lesser cause";
  EXPECT_EQ(x.displace(lookup_cause::again, second_host), std::nullopt);
  EXPECT_EQ(x.hosts(), 1u);
}

TEST(lookup_turns, those_of_the_least_cause_go_first) {
  lookup_turns x;
  x.add(repo_of(1), lookup_cause::retry, first_host);
  x.add(repo_of(2), lookup_cause::again, first_host);
  x.add(repo_of(3), lookup_cause::rotation, first_host);
  x.add(repo_of(4), lookup_cause::newcomer, first_host);
  for (const auto i : {1, 2, 4})
    EXPECT_EQ(x.displace(lookup_cause::retry, second_host), repo_of(i));
  EXPECT_EQ(x.displace(lookup_cause::retry, second_host), std::nullopt);
}

// -- the machine --------------------------------------------------------------

storage::identity_row row_of(const resolver& x, const std::string& pds,
                             std::chrono::seconds age) {
  auto out = row_at(x, age);
  out.pds = pds;
  return out;
}

/// A document that was read an hour ago, and a report that it has changed.
void rotate(resolver& x, const atproto::did& repo, const std::string& pds,
            const std::string& by = {}) {
  x.last = x.machine.on_ask(repo, 1, true, x.now, x.wall, by);
  if (!x.last.load.empty())
    x.loaded(row_of(x, pds, 1h), repo);
}

/// The next look-ups, each of which is answered.
std::vector<atproto::did> next_of(resolver& x, size_t count) {
  std::vector<atproto::did> out;
  for (int i = 0; i < 1'000 && out.size() < count; ++i) {
    x.pass(100ms);
    auto fetch = x.machine.on_timer(x.now).fetch;
    for (size_t n = 0; n < fetch.size(); ++n) {
      out.push_back(fetch[n]);
      x.document(doc_of(), false, fetch[n]);
      fetch.insert(fetch.end(), x.last.fetch.begin(), x.last.fetch.end());
    }
  }
  return out;
}

identity_options options_of(double per_second, size_t waiting_max) {
  identity_options out;
  out.per_second = per_second;
  out.waiting_max = waiting_max;
  return out;
}

constexpr int crowd = 10'000;
constexpr auto its_host = "https://a.crowd.test";
constexpr auto quiet_host = "https://quiet.test";

/// A host that reports changes of all its accounts.
struct flooded : resolver {
  explicit flooded(size_t waiting_max = 2 * crowd)
    : resolver(options_of(20, waiting_max)) {
    for (int i = 0; i < crowd; ++i)
      rotate(*this, repo_of(i), its_host);
  }
};

// actors.md, Who is looked up next: shares of look-ups
TEST(identity_hosts, a_crowd_of_one_host_delays_no_rotation_of_another) {
  flooded x;
  const auto who = repo_of(crowd + 1);
  rotate(x, who, quiet_host);
  EXPECT_THAT(next_of(x, 4), testing::Contains(who));
}

// Hosts of one domain count as one
TEST(identity_hosts, a_domain_has_one_turn_however_many_hosts_it_has) {
  flooded x;
  for (int i = 0; i < crowd; ++i)
    rotate(x, repo_of(crowd + i),
           "https://h" + std::to_string(i) + ".crowd.test");
  const auto who = repo_of(3 * crowd);
  rotate(x, who, quiet_host);
  EXPECT_THAT(next_of(x, 4), testing::Contains(who));
}

// Documents of its accounts may name any hosts, even ones that do not exist
TEST(identity_hosts, whoever_makes_look_ups_necessary_takes_its_turn_for_all) {
  resolver x{options_of(20, 2 * crowd)};
  for (int i = 0; i < crowd; ++i)
    rotate(x, repo_of(i), "https://made-up" + std::to_string(i) + ".test",
           first_host);
  EXPECT_EQ(x.machine.hosts(), 1u);
  const auto who = repo_of(crowd + 1);
  rotate(x, who, quiet_host);
  EXPECT_THAT(next_of(x, 4), testing::Contains(who));
}

TEST(identity_hosts, a_crowd_of_new_names_of_one_host_delays_no_other_name) {
  resolver x{options_of(20, 2 * crowd)};
  const auto add = [&](const atproto::did& repo, const std::string& by) {
    x.last = x.machine.on_ask(repo, 1, false, x.now, x.wall, by);
    x.loaded(std::nullopt, repo);
  };
  for (int i = 0; i < crowd; ++i)
    add(repo_of(i), first_host);
  const auto who = repo_of(crowd + 1);
  add(who, "");
  EXPECT_THAT(next_of(x, 4), testing::Contains(who));
}

// A host that asks about another host's account has no influence
TEST(identity_hosts, one_asked_for_by_a_crowd_waits_with_its_own_host) {
  for (const auto shares : {false, true}) {
    resolver x{options_of(20, 2 * crowd)};
    for (int i = 0; i < crowd; ++i)
      rotate(x, repo_of(i), quiet_host, first_host);
    const auto who = repo_of(crowd - 1);
    if (shares)
      x.machine.on_shared(who, {});
    else
      rotate(x, who, quiet_host);
    EXPECT_THAT(next_of(x, 4), testing::Contains(who));
  }
}

// The same for did:web names of one domain
TEST(identity_hosts, names_of_one_domain_delay_no_name_of_another) {
  auto options = options_of(20, 2 * crowd);
  options.in_flight_max = 2 * crowd; // No look-up waits for a place.
  resolver x{options};
  const auto add = [&x](const std::string& name) {
    x.fetch(1, atproto::did::trusted("did:web:" + name));
  };
  for (int i = 0; i < 100; ++i)
    add("n" + std::to_string(i) + ".crowd.test");
  add("quiet.test");
  EXPECT_THAT(next_of(x, 4),
              testing::Contains(atproto::did::trusted("did:web:quiet.test")));
}

// limits::identity_waiting_max, and one more: the latest request of the largest
// host is refused and told when there may be room
TEST(identity_hosts, a_full_queue_takes_one_of_another_host) {
  flooded x{64};
  x.last = {};
  const auto pause = x.now + 3'200ms; // The time that this many look-ups take.
  rotate(x, repo_of(crowd + 1), its_host);
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_EQ(x.last.answers[0].repo, repo_of(crowd + 1));
  EXPECT_EQ(x.last.answers[0].fact.error().code, ec::limit_reached);
  EXPECT_EQ(x.last.answers[0].not_before, pause);
  EXPECT_TRUE(x.last.answers[0].last);
  const auto before = x.machine.waiting();
  rotate(x, repo_of(crowd + 2), quiet_host);
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_EQ(x.last.answers[0].repo, repo_of(63));
  EXPECT_EQ(x.last.answers[0].fact.error().code, ec::limit_reached);
  EXPECT_EQ(x.last.answers[0].not_before, pause);
  EXPECT_TRUE(x.last.answers[0].last);
  EXPECT_TRUE(x.last.answers[0].settled);
  EXPECT_EQ(x.machine.waiting(), before);
  EXPECT_THAT(next_of(x, 4), testing::Contains(repo_of(crowd + 2)));
}

// limits::lookup_pause_min, limits::lookup_pause_max
TEST(identity_hosts, one_without_a_place_comes_back_within_bounds) {
  for (const auto per_second : {10'000.0, 0.1}) {
    resolver x{options_of(per_second, 64)};
    for (int i = 0; x.last.answers.empty(); ++i)
      rotate(x, repo_of(i), its_host);
    EXPECT_EQ(x.last.answers.at(0).not_before,
              x.now + (per_second > 1 ? std::chrono::microseconds{
                                          limits::lookup_pause_min}
                                      : std::chrono::microseconds{
                                          limits::lookup_pause_max}));
  }
}

// A known answer serves requests that do not need a new one
TEST(identity_hosts, one_that_loses_its_place_has_what_is_known) {
  resolver x{options_of(0.1, 3)};
  const auto ask = [&x](int i, const std::string& pds) {
    x.ask(1, false, repo_of(i));
    x.loaded(row_of(x, pds, 25h), repo_of(i));
  };
  for (const auto i : {1, 2, 3})
    ask(i, its_host);
  ask(4, quiet_host);
  ASSERT_EQ(x.last.answers.size(), 2u);
  // Its own answer, which is a day old.
  EXPECT_EQ(x.last.answers[0].repo, repo_of(4));
  EXPECT_FALSE(x.last.answers[0].last);
  EXPECT_EQ(x.last.answers[1].repo, repo_of(3));
  EXPECT_EQ(x.last.answers[1].fact->pds, its_host);
  EXPECT_TRUE(x.last.answers[1].last);
}

TEST(identity_hosts, a_name_that_waits_for_its_row_is_counted_for_who_asked) {
  resolver x{options_of(20, 2 * crowd)};
  for (int i = 0; i < crowd; ++i)
    rotate(x, repo_of(i), quiet_host, first_host);
  const auto who = repo_of(crowd + 1);
  x.last = x.machine.on_ask(who, 1, true, x.now, x.wall, first_host);
  x.machine.on_shared(who, second_host);
  x.loaded(row_of(x, quiet_host, 1h), who);
  EXPECT_THAT(next_of(x, 4), testing::Contains(who));
  // This repo was not requested.
  x.machine.on_shared(repo_of(5 * crowd), second_host);
}

} // namespace
} // namespace weir::tests::identities
