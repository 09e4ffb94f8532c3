#include "actors/supervisor/limits_accounts.hpp"
#include "actors/supervisor/question_turns.hpp"

#include "actors/support/site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

/// The order in which hosts are asked.
namespace weir::tests {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

const std::string one_host = "https://pds.test";

atproto::did account_of(size_t n) {
  return atproto::did::trusted("did:web:a" + std::to_string(n) + ".test");
}

// `limits::account_questions_per_site_max` of
// `limits::account_questions_running_max`
TEST(question_turns, a_site_is_asked_so_much_at_once_and_not_more) {
  actors::question_turns x;
  const auto host = [](size_t n) {
    return "https://h" + std::to_string(n) + ".crowd.test";
  };
  for (size_t i = 0; i < 40; ++i)
    x.add(account_of(i), host(i % 10));
  std::vector<std::string> asked;
  while (auto next = x.next({}))
    asked.push_back(next->pds);
  EXPECT_THAT(asked, ElementsAre(host(0), host(1), host(2), host(3)));
  EXPECT_EQ(asked.size(), limits::account_questions_per_site_max);
  x.finish(host(0));
  EXPECT_EQ(x.next({})->pds, host(4));
  EXPECT_FALSE(x.next({}));
}

// `limits::account_resting_hosts_max`, and one more
TEST(question_turns, so_many_hosts_rest_and_the_first_to_wake_goes) {
  actors::question_turns x;
  const auto host = [](size_t n) {
    return "https://pds.h" + std::to_string(n) + ".test";
  };
  const auto most = limits::account_resting_hosts_max;
  for (size_t i = 0; i < most; ++i)
    x.rest(host(i), steady_time{} + std::chrono::seconds(100 + i));
  x.add(account_of(0), host(0));
  EXPECT_FALSE(x.next({}));
  x.rest(host(most), steady_time{} + 1h);
  EXPECT_EQ(x.next({})->repo, account_of(0)) << "it would have rested shortest";
}

TEST(question_turns, a_question_that_was_taken_back_leaves_nothing) {
  actors::question_turns x;
  const auto ticket = x.add(account_of(1), one_host);
  x.add(account_of(2), one_host);
  x.remove(ticket, one_host);
  EXPECT_EQ(x.next({})->repo, account_of(2));
  EXPECT_FALSE(x.next({}));
}

TEST(site, is_the_domain_whatever_the_name_and_the_port) {
  EXPECT_EQ(actors::site_of("https://a.b.example.com:8443"), "example.com");
  EXPECT_EQ(actors::site_of("https://example.com"), "example.com");
  EXPECT_EQ(actors::site_of("https://x.example.com."), "example.com");
  for (const auto* own : {"127.0.0.1:80", "[::1]:80", "localhost:80"})
    EXPECT_EQ(actors::site_of("http://" + std::string{own}), own);
}

} // namespace
} // namespace weir::tests
