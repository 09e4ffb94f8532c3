#include "actors/supervisor/holders_page.hpp"
#include "actors/supervisor/limits.hpp"

#include <gtest/gtest.h>

// SYNC-18: a page of a PDS that is asked about each of its accounts.
namespace weir::tests::holder_pages {

namespace {

using namespace std::chrono_literals;
using namespace weir::actors;
using storage::account_status;
using given = holders_machine::answer;
using said = holders_run::said;

atproto::did number(size_t i) {
  return atproto::did::trusted("did:web:r" + std::to_string(i) + ".test");
}

const auto wanted = wire::collection_filter::parse({"app.test.note"}).value();

std::string description(const atproto::did& repo, const std::string& names) {
  return R"({"did":")" + repo.str() + R"(","collections":[)" + names + "]}";
}

std::pair<given, said> read(int status, std::string_view body) {
  return read_description(host_answer{status, 0s, body}, number(0), wanted);
}

/// The page of `accounts` active accounts.
listing_page listed(size_t accounts) {
  listing_page out;
  out.upstream = 7;
  out.cursor = "c2";
  for (size_t i = 0; i < accounts; ++i) {
    repo_listed line;
    line.repo = number(i);
    out.repos->push_back(line);
  }
  return out;
}

holders_page page_of(size_t accounts, holders_run run = {}) {
  return {std::move(run), false, listed(accounts)};
}

bool say(holders_page& x, int status, std::string_view body = {}) {
  return x.on_answer(host_answer{status, 90s, body}, wanted);
}

/// The next account has a record of a wanted collection.
bool say_holds(holders_page& x) {
  return say(x, 200, description(*x.next(), R"("app.test.note")"));
}

constexpr std::string_view not_there = R"({"error":"RepoNotFound"})";

} // namespace

TEST(holders_page, a_description_says_whether_a_wanted_collection_is_there) {
  EXPECT_EQ(read(200, description(number(0), R"("a.b.c","app.test.note")")),
            std::pair(given::described, said::holds));
  EXPECT_EQ(read(200, description(number(0), R"("a.b.c",7)")),
            std::pair(given::described, said::without));
  const auto none = std::pair(given::unclear, said::nothing);
  EXPECT_EQ(read(200, description(number(1), R"("app.test.note")")), none);
  EXPECT_EQ(read(200, "<html>"), none);
  EXPECT_EQ(read(201, description(number(0), R"("app.test.note")")), none);
}

TEST(holders_page, absence_refusal_and_a_host_that_is_away_are_told_apart) {
  for (const auto status : {400, 404})
    for (const auto* name :
         {"RepoNotFound", "RepoTakendown", "RepoSuspended", "RepoDeactivated"})
      EXPECT_EQ(read(status, R"({"error":")" + std::string{name} + R"("})"),
                std::pair(given::absent, said::absent));
  EXPECT_EQ(read(500, not_there).first, given::unclear);
  EXPECT_EQ(read(400, R"({"error":"InvalidRequest"})").first, given::unclear);
  for (const auto status : {401, 404, 501})
    EXPECT_EQ(read(status, ""), std::pair(given::refused, said::nothing));
  for (const auto status : {408, 502, 503, 504})
    EXPECT_EQ(read(status, ""), std::pair(given::away, said::nothing));
  for (const auto status : {403, 500, 505})
    EXPECT_EQ(read(status, ""), std::pair(given::unclear, said::nothing));
  const auto failed = [](ec code) {
    return read_description(fail(code, "x"), number(0), wanted).first;
  };
  EXPECT_EQ(failed(ec::limit_reached), given::unclear);
  EXPECT_EQ(failed(ec::unreachable), given::away);
}

TEST(holders_page, tracked_accounts_and_those_that_are_away_are_passed_over) {
  auto lines = listed(3);
  lines.repos->at(1).account = account_status::suspended;
  holders_page x{{}, true, std::move(lines)};
  x.pass_over_known([](const atproto::did& repo) {
    EXPECT_NE(repo, number(1)) << "it is not active";
    return repo == number(0);
  });
  ASSERT_NE(x.next(), nullptr);
  EXPECT_EQ(*x.next(), number(2));
  EXPECT_TRUE(say_holds(x));
  EXPECT_EQ(x.next(), nullptr);
  const auto out = x.take_page();
  ASSERT_EQ(out.repos->size(), 1u);
  EXPECT_EQ(out.repos->at(0).repo, number(2));
  EXPECT_EQ(out.without.size(), 2u);
  EXPECT_EQ(out.cursor, "c2");
}

TEST(holders_page, an_account_without_an_answer_is_asked_twice_and_counted) {
  auto x = page_of(2);
  x.next();
  EXPECT_TRUE(say(x, 500));
  EXPECT_EQ(*x.next(), number(0)) << "once more";
  EXPECT_TRUE(say(x, 500));
  EXPECT_EQ(*x.next(), number(1));
  EXPECT_TRUE(say_holds(x));
  EXPECT_EQ(x.next(), nullptr);
  const auto out = x.take_page();
  EXPECT_EQ(out.unanswered, 1u);
  EXPECT_EQ(out.without.size(), 1u);
  EXPECT_GE(out.asked, 3u);
}

TEST(holders_page, a_host_that_asks_for_time_keeps_its_answers) {
  auto first = page_of(2);
  first.next();
  EXPECT_FALSE(say(first, 429));
  const auto busy = first.take_page();
  EXPECT_EQ(busy.repos.error().code, ec::unreachable) << "nothing is known yet";
  EXPECT_EQ(busy.retry_after, 90s);
  auto second = page_of(2, first.take_run());
  EXPECT_TRUE(say_holds(second));
  second.next();
  EXPECT_FALSE(say(second, 429));
  EXPECT_EQ(second.take_page().repos.error().code, ec::rate_limited);
  auto third = page_of(2, second.take_run());
  EXPECT_EQ(*third.next(), number(1)) << "the first one is known";
  EXPECT_TRUE(say(third, 404, not_there));
  EXPECT_EQ(third.next(), nullptr);
  const auto out = third.take_page();
  EXPECT_EQ(out.asked, 1u);
  ASSERT_EQ(out.repos->size(), 1u);
  EXPECT_EQ(out.repos->at(0).repo, number(0));
  auto later = page_of(2, third.take_run());
  EXPECT_EQ(*later.next(), number(0)) << "a page that is done is forgotten";
}

// limits::describe_failures_max
TEST(holders_page, what_a_failed_page_keeps_depends_on_its_failure) {
  const auto fail_with = [](holders_page& x, int status) {
    for (size_t i = 1; i < 2 * limits::describe_failures_max; ++i) {
      x.next();
      EXPECT_TRUE(say(x, status));
    }
    x.next();
    EXPECT_FALSE(say(x, status));
    return x.take_page();
  };
  auto away = page_of(9);
  EXPECT_TRUE(say_holds(away));
  const auto failed = fail_with(away, 503);
  EXPECT_EQ(failed.repos.error().code, ec::unreachable);
  EXPECT_EQ(failed.retry_after, 0s);
  EXPECT_TRUE(failed.without.empty());
  auto again = page_of(9, away.take_run());
  EXPECT_EQ(*again.next(), number(1)) << "those passed over are asked again";
  auto refusing = page_of(9);
  EXPECT_EQ(fail_with(refusing, 501).repos.error().code, ec::not_found);
}

TEST(holders_page, a_host_that_denies_all_of_a_listing_is_not_believed) {
  for (const auto last : {false, true}) {
    auto lines = listed(2);
    lines.cursor = last ? "" : "c2";
    holders_page x{{}, true, std::move(lines)};
    while (x.next() != nullptr)
      EXPECT_TRUE(say(x, 400, not_there));
    const auto out = x.take_page();
    EXPECT_EQ(out.unanswered, last ? 2u : 0u);
    EXPECT_EQ(out.without.size(), 2u);
  }
}

} // namespace weir::tests::holder_pages
