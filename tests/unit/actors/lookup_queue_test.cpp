#include "actors/identity/limits.hpp"
#include "actors/identity/lookup_backoff.hpp"
#include "actors/identity/lookup_queue.hpp"
#include "actors/support/limits.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace weir::actors {
namespace {

using namespace std::chrono_literals;

constexpr steady_time start{1'000'000'000};

const auto away = fail(ec::unreachable, "away");

atproto::did named(const std::string& x) {
  return atproto::did::trusted("did:plc:" + x);
}

atproto::did web(int n) {
  return atproto::did::trusted("did:web:h" + std::to_string(n) + ".test");
}

/// Takes the look-ups that may begin now, and ends each of them.
std::vector<std::string> run(lookup_queue& x, steady_time now,
                             bool succeeds = true) {
  std::vector<std::string> out;
  while (const auto repo = x.next(now)) {
    out.push_back(repo->str());
    x.done(*repo, {succeeds, succeeds}, now);
  }
  return out;
}

// actors.md, Who is looked up next: new accounts and possibly changed keys come
// first
TEST(lookup_queue, newcomers_and_rotations_share_most_of_each_round) {
  lookup_queue x{8, 64};
  for (int i = 0; i < 100; ++i) {
    const auto n = std::to_string(i);
    x.push(named("old" + n), lookup_cause::again);
    x.push(named("failed" + n), lookup_cause::retry);
    x.push(named("new" + n), lookup_cause::newcomer);
    x.push(named("turned" + n), lookup_cause::rotation);
  }
  std::map<char, int> seen;
  for (int second = 0; second < 10; ++second)
    for (const auto& name : run(x, start + second * 1s))
      ++seen[name[8]];
  EXPECT_EQ(seen['t'], 30);
  EXPECT_EQ(seen['n'], 30);
  EXPECT_EQ(seen['o'], 10);
  EXPECT_EQ(seen['f'], 10);
}

// Failing retries get `limits::retry_share` of the budget and no more
TEST(lookup_queue, retries_that_fail_have_a_share_and_others_all_of_it) {
  for (const auto succeed : {false, true}) {
    lookup_queue x{20, 64};
    for (int i = 0; i < 1'000; ++i)
      x.push(named(std::to_string(i)), lookup_cause::retry);
    size_t made = 0;
    for (int tick = 0; tick < 100; ++tick)
      made += run(x, start + tick * 100ms, succeed).size();
    if (succeed)
      EXPECT_GE(made, 200u);
    else
      EXPECT_LE(made, 20 * limits::retry_share * 11);
    run(x, start + 10s, succeed);
    ASSERT_TRUE(x.due(start + 10s));
    EXPECT_GT(*x.due(start + 10s), start + 10s);
  }
}

/// Takes all look-ups that may begin now; none of them ends.
std::vector<atproto::did> hang(lookup_queue& x, steady_time now) {
  std::vector<atproto::did> out;
  while (auto repo = x.next(now))
    out.push_back(std::move(*repo));
  return out;
}

// `limits::web_part` of the places, and one more, for names whose hosts hang
TEST(lookup_queue, a_crowd_of_hosts_that_hang_leaves_the_directory_its_places) {
  lookup_queue x{1'000, 64};
  for (int i = 0; i < 100; ++i)
    x.push(web(i), lookup_cause::newcomer);
  EXPECT_EQ(hang(x, start).size(), 64 / limits::web_part);
  EXPECT_FALSE(x.due(start)) << "not before one of them ends";
  for (int i = 0; i < 100; ++i)
    x.push(named(std::to_string(i)), lookup_cause::newcomer);
  EXPECT_EQ(hang(x, start).size(), 64u);
  EXPECT_EQ(x.size(), 200u);
  x.done(web(0), {}, start);
  EXPECT_EQ(hang(x, start), std::vector{web(64 / limits::web_part)});
}

TEST(lookup_queue, a_directory_that_hangs_leaves_the_hosts_their_places) {
  lookup_queue x{1'000, 64};
  for (int i = 0; i < 100; ++i)
    x.push(named(std::to_string(i)), lookup_cause::rotation);
  EXPECT_EQ(hang(x, start).size(), 64u);
  x.push(web(1), lookup_cause::newcomer);
  EXPECT_EQ(hang(x, start), std::vector{web(1)});
}

// Many hosts that answer at once use a part of the budget, but not all of it
TEST(lookup_queue, did_web_names_have_a_share_while_others_wait_and_else_all) {
  lookup_queue x{20, 64};
  for (int i = 0; i < 1'000; ++i)
    x.push(web(i), lookup_cause::rotation);
  EXPECT_EQ(run(x, start).size(), 20u);
  for (int i = 0; i < 1'000; ++i)
    x.push(named(std::to_string(i)), lookup_cause::again);
  size_t of_directory = 0;
  size_t of_hosts = 0;
  for (int second = 1; second <= 10; ++second)
    for (const auto& name : run(x, start + second * 1s))
      ++(name.starts_with("did:web:") ? of_hosts : of_directory);
  EXPECT_EQ(of_hosts, 10 * 20 / limits::web_part);
  EXPECT_EQ(of_directory, 10 * 20 - of_hosts);
}

// The budget protects the directory and holds for all causes together
TEST(lookup_queue, all_together_keep_to_the_budget) {
  lookup_queue x{5, 64};
  for (int i = 0; i < 100; ++i)
    x.push(named(std::to_string(i)), lookup_cause::rotation);
  EXPECT_EQ(run(x, start).size(), 5u);
  const auto due = x.due(start);
  ASSERT_TRUE(due);
  EXPECT_GE(*due, start + 200ms);
  EXPECT_LE(*due, start + 200ms + 1us); // Rounded up.
  EXPECT_EQ(run(x, *due).size(), 1u);
}

// `limits::lookup_pause_min`, and up to `limits::lookup_pause_max`
TEST(lookup_backoff, the_pause_doubles_until_a_look_up_succeeds) {
  lookup_backoff x{4};
  const auto repo = named("a");
  EXPECT_FALSE(x.knows(repo));
  EXPECT_EQ(x.failed(repo, start, away), start + limits::lookup_pause_min);
  EXPECT_EQ(x.until(repo, start), start + limits::lookup_pause_min);
  EXPECT_FALSE(x.until(repo, start + limits::lookup_pause_min));
  EXPECT_EQ(x.failed(repo, start, away), start + 2 * limits::lookup_pause_min);
  for (int i = 0; i < 20; ++i)
    x.failed(repo, start, away);
  EXPECT_EQ(x.until(repo, start), start + limits::lookup_pause_max);
  EXPECT_TRUE(x.knows(repo));
  x.succeeded(repo, start);
  EXPECT_FALSE(x.knows(repo));
  EXPECT_EQ(x.failed(repo, start, away), start + limits::lookup_pause_min);
}

// protocol-coverage.md 8.3; `limits::lookup_forgiven_min`: the directory was
// the cause
TEST(lookup_backoff, a_success_after_many_failures_ends_all_pauses) {
  constexpr auto enough = limits::lookup_forgiven_min;
  for (const auto failures : {enough - 1, enough}) {
    lookup_backoff x{100};
    for (size_t i = 0; i < failures; ++i)
      x.failed(named(std::to_string(i)), start, away);
    x.succeeded(named("well"), start + 1s);
    EXPECT_EQ(x.until(named("0"), start + 1s).has_value(), failures < enough);
    x.failed(named("0"), start + 1s, away);
    EXPECT_TRUE(x.until(named("0"), start + 2s)) << "that is another failure";
  }
}

// Otherwise a client that asks for invented names would end the pauses of all.
TEST(lookup_backoff, pauses_end_so_now_and_then_only) {
  constexpr auto enough = limits::lookup_forgiven_min;
  lookup_backoff x{100};
  auto now = start;
  size_t ended = 0;
  for (size_t round = 0; round < 60; ++round) {
    for (size_t i = 0; i < enough; ++i)
      x.failed(named(std::to_string(i)), now, away);
    now = now + 1s;
    x.succeeded(named("well"), now);
    ended += x.until(named("0"), now) ? 0 : 1;
  }
  EXPECT_EQ(ended, 1u);
  now = now + limits::lookup_pause_max;
  for (size_t i = 0; i < enough; ++i)
    x.failed(named(std::to_string(i)), now, away);
  x.succeeded(named("well"), now + 1s);
  EXPECT_FALSE(x.until(named("0"), now + 1s));
}

// `limits::lookup_failures_max`, and one more: the oldest is forgotten
TEST(lookup_backoff, failures_are_remembered_up_to_a_bound) {
  lookup_backoff x{limits::lookup_failures_max};
  for (size_t i = 0; i < limits::lookup_failures_max; ++i)
    x.failed(named(std::to_string(i)), start, away);
  EXPECT_TRUE(x.knows(named("0")));
  x.failed(named("0"), start, away);
  x.failed(named("last"), start, away);
  EXPECT_TRUE(x.knows(named("0")));
  EXPECT_FALSE(x.knows(named("1")));
  EXPECT_TRUE(x.knows(named("last")));
  EXPECT_EQ(x.size(), limits::lookup_failures_max);
}

// architecture.md, When memory runs short: `limits::lookup_cause_bytes_max`,
// and one more; no character is cut in two
TEST(lookup_backoff, why_it_failed_is_kept_up_to_a_bound) {
  lookup_backoff x{2};
  const auto repo = named("a");
  const auto cause_of = [&](const std::string& context) {
    x.failed(repo, start, fail(ec::unreachable, context));
    return std::string{x.cause(repo)};
  };
  const std::string code = "unreachable: ";
  const auto most = limits::lookup_cause_bytes_max - code.size();
  EXPECT_EQ(x.cause(repo), "");
  EXPECT_EQ(cause_of("HTTP 500"), code + "HTTP 500");
  const std::string longest(most, 'x');
  EXPECT_EQ(cause_of(longest), code + longest);
  EXPECT_EQ(cause_of(longest + 'y'), code + longest);
  const auto but_one = longest.substr(1);
  EXPECT_EQ(cause_of(but_one + "\u00e9"), code + but_one);
  EXPECT_EQ(cause_of(but_one.substr(1) + "\u00e9"),
            code + but_one.substr(1) + "\u00e9");
  x.succeeded(repo, start);
  EXPECT_EQ(x.cause(repo), "");
}

} // namespace
} // namespace weir::actors
