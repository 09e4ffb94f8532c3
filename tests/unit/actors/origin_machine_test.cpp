#include "actors/supervisor/limits_claims.hpp"
#include "actors/supervisor/origin_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

// architecture.md, Health: an upstream is configured by an origin that no
// document names.
namespace weir::tests::origins {
namespace {

using namespace std::chrono_literals;
using namespace weir::actors;
using kind = origin_machine::word::kind;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto its_origin = "https://192.0.2.1";
constexpr auto named_host = "https://pds.test";
constexpr auto most = limits::origin_accounts_max;

atproto::did account(size_t i) {
  std::string id(24, 'a');
  for (auto& letter : id) {
    letter = static_cast<char>('a' + i % 26);
    i /= 26;
  }
  return atproto::did::trusted("did:plc:" + id);
}

std::vector<atproto::did> accounts(size_t count, size_t first = 0) {
  std::vector<atproto::did> out;
  for (size_t i = first; i < first + count; ++i)
    out.push_back(account(i));
  return out;
}

/// A world that answers the questions in turn.
class origin_world {
public:
  void begin(uint32_t upstream = 1) { machine.on_begin(upstream); }

  void page(const std::vector<atproto::did>& active, uint32_t upstream = 1) {
    std::vector<repo_listed> lines(active.size());
    for (size_t i = 0; i < active.size(); ++i)
      lines[i].repo = active[i];
    take(machine.on_page(upstream, its_origin, lines, now, wall));
  }

  void take(origin_machine::effects x) {
    waiting.insert(waiting.end(), x.ask.begin(), x.ask.end());
    found.insert(found.end(), x.found.begin(), x.found.end());
    timer = x.timer;
  }

  /// Answers the next question.
  void say(kind what, const std::string& pds = {}, int64_t age = -1) {
    const auto next = waiting.front();
    waiting.erase(waiting.begin());
    asked.push_back(next);
    take(machine.on_word(next.repo, {what, pds, wall.seconds() - age}, now));
  }

  void say_all(const std::string& pds) {
    while (!waiting.empty())
      say(kind::names_host, pds);
  }

  bool is_named() const { return !found.empty() && !found.back().host.empty(); }

  origin_machine machine;
  std::vector<origin_machine::question> waiting;
  std::vector<origin_machine::question> asked;
  std::vector<origin_machine::finding> found;
  std::optional<steady_time> timer;
  steady_time now{1'000'000'000};
  wall_time wall{1'800'000'000'000'000};
};

} // namespace

// A relay has accounts of all hosts, and only an active account's document has
// to name its host.
TEST(origin_machine, active_accounts_of_a_pds_show_its_origin) {
  origin_world x;
  x.begin();
  std::vector<repo_listed> lines(3);
  lines[0].repo = account(0);
  lines[0].account = storage::account_status::takendown;
  lines[1].repo = atproto::did::trusted("did:key:zabc");
  x.take(x.machine.on_page(1, its_origin, lines, x.now, x.wall));
  EXPECT_THAT(x.waiting, IsEmpty());
  lines[2].repo = account(2);
  x.take(x.machine.on_page(1, {}, lines, x.now, x.wall));
  EXPECT_THAT(x.waiting, IsEmpty()) << "of a relay";
  x.take(x.machine.on_page(1, its_origin, lines, x.now, x.wall));
  ASSERT_THAT(x.waiting, SizeIs(1));
  EXPECT_EQ(x.waiting[0].repo, account(2));
}

TEST(origin_machine, one_account_is_enough_to_name_a_host) {
  origin_world x;
  x.begin();
  x.page(accounts(1));
  EXPECT_THAT(x.found, IsEmpty());
  x.say_all(named_host);
  ASSERT_THAT(x.found, SizeIs(1));
  EXPECT_EQ(x.found[0].upstream, 1u);
  EXPECT_EQ(x.found[0].origin, its_origin);
  EXPECT_EQ(x.found[0].account, account(0).str());
  EXPECT_EQ(x.found[0].host, named_host);
}

// A relay that is configured as a PDS lists accounts of several hosts.
TEST(origin_machine, documents_of_several_hosts_are_told) {
  origin_world x;
  x.begin();
  x.page(accounts(3));
  x.say(kind::names_host, named_host);
  x.say(kind::missing);
  x.say(kind::names_host, "https://other.test");
  ASSERT_THAT(x.found, SizeIs(1));
  EXPECT_TRUE(x.found[0].several);
  x.begin();
  x.page(accounts(2));
  x.say_all(named_host);
  ASSERT_THAT(x.found, SizeIs(2));
  EXPECT_FALSE(x.found[1].several) << "of another listing";
}

TEST(origin_machine, one_document_that_agrees_is_enough_for_a_listing) {
  origin_world x;
  x.begin();
  x.page(accounts(1'000));
  x.say_all(its_origin);
  EXPECT_THAT(x.asked, SizeIs(1));
  EXPECT_FALSE(x.is_named());
  EXPECT_FALSE(x.machine.wants(1));
  x.page(accounts(1'000, 1'000));
  EXPECT_THAT(x.asked, SizeIs(1)) << "the next page";
  x.begin();
  EXPECT_TRUE(x.machine.wants(1)) << "the next listing";
}

// Some accounts may have moved away and still be listed as active.
TEST(origin_machine, a_host_that_some_have_left_is_not_named) {
  for (size_t i = 0; i < 4; ++i) {
    origin_world x;
    x.begin();
    x.page(accounts(4));
    for (size_t j = 0; j < 4 && !x.waiting.empty(); ++j)
      x.say(kind::names_host, j == i ? its_origin : named_host);
    EXPECT_THAT(x.waiting, IsEmpty());
    EXPECT_FALSE(x.is_named()) << i;
  }
}

// limits::origin_accounts_max
TEST(origin_machine, so_many_are_looked_at_from_all_over_the_page) {
  for (const auto count : {most, most + 1, 10 * most}) {
    origin_world x;
    x.begin();
    x.page(accounts(count));
    x.say_all(named_host);
    std::set<std::string> names;
    for (const auto& each : x.asked)
      names.insert(each.repo.str());
    EXPECT_EQ(names.size(), most) << count;
    EXPECT_EQ(x.asked.size(), most) << count;
    EXPECT_TRUE(x.is_named());
  }
  origin_world x;
  x.begin();
  x.page(accounts(10 * most));
  x.say_all(named_host);
  EXPECT_TRUE(std::any_of(x.asked.begin(), x.asked.end(), [](const auto& y) {
    return y.repo == account(10 * (most - 1));
  }));
  x.page(accounts(10 * most, 1'000));
  x.say_all(named_host);
  EXPECT_EQ(x.asked.size(), most + 1) << "one of each further page";
}

TEST(origin_machine, a_later_page_or_listing_that_agrees_ends_it) {
  origin_world x;
  x.begin();
  x.page(accounts(2));
  x.say_all(named_host);
  ASSERT_TRUE(x.is_named());
  x.page(accounts(2, 2));
  x.say_all(its_origin);
  EXPECT_FALSE(x.is_named());
  x.begin();
  x.page(accounts(2));
  x.say_all(named_host);
  ASSERT_TRUE(x.is_named());
  x.take(x.machine.on_confirmed(1));
  EXPECT_FALSE(x.is_named()) << "a claim of it was confirmed";
  x.take(x.machine.on_confirmed(1));
  EXPECT_THAT(x.found, SizeIs(4)) << "which is told once";
  x.take(x.machine.on_confirmed(2));
  EXPECT_THAT(x.found, SizeIs(4)) << "nobody looked there";
}

TEST(origin_machine, a_document_that_is_older_than_the_page_is_fetched_anew) {
  origin_world x;
  x.begin();
  x.page(accounts(1));
  x.say(kind::names_host, named_host, 0); // Made in the same second.
  ASSERT_THAT(x.waiting, SizeIs(1));
  EXPECT_FALSE(x.asked[0].anew);
  EXPECT_TRUE(x.waiting[0].anew);
  x.say(kind::names_host, its_origin);
  EXPECT_FALSE(x.is_named()) << "it has moved here";
}

// limits::origin_looks_max: the answers may belong to other questions.
TEST(origin_machine, so_often_and_then_it_is_believed) {
  origin_world x;
  x.begin();
  x.page(accounts(1));
  for (size_t i = 0; i < limits::origin_looks_max; ++i) {
    x.say(kind::names_host, named_host, 10);
    EXPECT_FALSE(x.is_named()) << i;
  }
  x.say(kind::names_host, named_host, 10);
  EXPECT_TRUE(x.is_named());
  EXPECT_THAT(x.waiting, IsEmpty());
}

TEST(origin_machine, accounts_without_documents_say_nothing_of_the_origin) {
  origin_world x;
  x.begin();
  x.page(accounts(4));
  x.say(kind::missing);
  x.say(kind::names_host); // It is already gone.
  x.say_all(named_host);
  EXPECT_THAT(x.found, IsEmpty()) << "half of them";
  x.begin();
  x.page(accounts(3));
  x.say(kind::missing);
  x.say_all(named_host);
  EXPECT_TRUE(x.is_named()) << "most of them";
  x.begin();
  x.page(accounts(2));
  x.say(kind::missing);
  x.say(kind::missing);
  EXPECT_FALSE(x.is_named()) << "nobody names another one any more";
}

// limits::claim_retry, limits::claim_tries_max
TEST(origin_machine, a_directory_that_is_away_decides_nothing) {
  origin_world x;
  x.begin();
  x.page(accounts(2));
  x.say(kind::away);
  EXPECT_THAT(x.waiting, IsEmpty());
  EXPECT_EQ(x.timer, x.now + limits::claim_retry);
  x.now = x.now + limits::claim_retry;
  x.take(x.machine.on_timer(x.now));
  x.say_all(named_host);
  EXPECT_TRUE(x.is_named());
  origin_world y;
  y.begin();
  y.page(accounts(2));
  for (size_t i = 0; i < limits::claim_tries_max; ++i) {
    y.say(kind::away);
    y.now = y.now + limits::claim_retry;
    y.take(y.machine.on_timer(y.now));
  }
  y.say_all(named_host);
  EXPECT_THAT(y.found, IsEmpty()) << "the other one may be its own";
}

// Looking up a did:web costs its own host a request, which may hang.
TEST(origin_machine, names_of_did_web_are_looked_at_only_where_there_are_no_others) {
  const auto web = atproto::did::trusted("did:web:a.test");
  origin_world x;
  x.begin();
  x.page({web, account(0)});
  x.say_all(named_host);
  EXPECT_THAT(x.asked, SizeIs(1));
  EXPECT_EQ(x.asked[0].repo, account(0));
  origin_world y;
  y.begin();
  y.page({web});
  y.say(kind::away);
  EXPECT_FALSE(y.timer);
  EXPECT_FALSE(y.is_named());
  y.page({web});
  y.say_all(named_host);
  EXPECT_FALSE(y.is_named()) << "the first is undecided";
}

// limits::origin_asked_max
TEST(origin_machine, so_many_upstreams_are_looked_at_at_once) {
  origin_world x;
  const auto all = static_cast<uint32_t>(limits::origin_asked_max);
  for (uint32_t i = 1; i <= all + 1; ++i) {
    x.begin(i);
    x.page(accounts(2, 10 * i), i);
    EXPECT_EQ(x.waiting.size(), std::min(i, all)) << "one of each";
  }
  x.say(kind::names_host, its_origin);
  EXPECT_EQ(x.waiting.size(), all);
  EXPECT_EQ(x.waiting.back().repo, account(10 * (all + 1)));
}

TEST(origin_machine, the_same_account_may_be_listed_by_two_upstreams) {
  origin_world x;
  for (uint32_t i = 1; i <= 2; ++i) {
    x.begin(i);
    x.page(accounts(1), i);
  }
  x.say(kind::names_host, named_host);
  EXPECT_THAT(x.found, SizeIs(2));
  x.say(kind::names_host, its_origin); // A second answer about it.
  EXPECT_THAT(x.found, SizeIs(2));
}

// While accounts of one page are looked up, another page is ignored.
TEST(origin_machine, a_listing_that_is_faster_than_the_directory_waits_for_it) {
  origin_world x;
  x.begin();
  x.page(accounts(2));
  EXPECT_FALSE(x.machine.wants(1));
  x.page(accounts(2, 2));
  EXPECT_THAT(x.waiting, SizeIs(1));
  x.page({});
  x.take(x.machine.on_confirmed(1));
  x.say(kind::names_host, named_host);
  EXPECT_THAT(x.waiting, IsEmpty()) << "nobody wants to know any more";
  EXPECT_FALSE(x.is_named());
}

} // namespace weir::tests::origins
