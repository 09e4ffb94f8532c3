#include "actors/api/answers.hpp"
#include "actors/api/client_lookups.hpp"
#include "actors/api/limits.hpp"
#include "actors/support/limits.hpp"

#include <gtest/gtest.h>

// Clients' share of the look-ups that the node itself needs.
namespace weir::actors {

namespace {

using namespace std::chrono_literals;

atproto::did repo_of(size_t i) {
  return atproto::did::trusted("did:web:r" + std::to_string(i) + ".test");
}

class ClientLookupsTest : public testing::Test {
protected:
  bool ask(size_t repo) {
    return lookups.add(
      repo_of(repo),
      [this, repo](const auto& x) {
        answers.push_back(document_reply(repo_of(repo), x).status);
      },
      now);
  }

  void say(size_t repo, const result<storage::identity_row>& fact,
           bool last = true) {
    lookups.on_fact(repo_of(repo), fact, last, wall);
  }

  storage::identity_row row(std::chrono::seconds age) const {
    storage::identity_row out;
    out.fetched_at = wall.seconds() - age.count();
    return out;
  }

  client_lookups lookups{1'000 / limits::resolve_share};
  steady_time now{1};
  wall_time wall{1'700'000'000'000'000};
  std::vector<int> answers;
};

} // namespace

// limits::resolve_waiting_max
TEST_F(ClientLookupsTest, SoManyWaitAndNotOneMore) {
  for (size_t i = 0; i < limits::resolve_waiting_max; ++i)
    EXPECT_EQ(ask(i / 2), i % 2 == 0) << "two share a look-up";
  EXPECT_TRUE(answers.empty());
  EXPECT_FALSE(ask(0));
  EXPECT_FALSE(ask(limits::resolve_waiting_max));
  EXPECT_EQ(answers, (std::vector<int>{429, 429}));
  say(0, row(0s));
  EXPECT_EQ(answers, (std::vector<int>{429, 429, 200, 200}));
  EXPECT_TRUE(ask(0));
}

// limits::resolve_share
TEST_F(ClientLookupsTest, AsManyBeginInASecondAsTheirShareIs) {
  lookups = client_lookups{4 / limits::resolve_share};
  for (size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(ask(i));
  EXPECT_FALSE(ask(4));
  EXPECT_FALSE(ask(3)) << "it shares the one on its way";
  EXPECT_EQ(answers, std::vector<int>{429});
  now = now + 250ms;
  EXPECT_TRUE(ask(4));
  EXPECT_FALSE(ask(5));
}

// limits::resolve_wait
TEST_F(ClientLookupsTest, SoLongAClientWaitsAndNotLonger) {
  EXPECT_FALSE(lookups.due());
  EXPECT_TRUE(ask(0));
  ASSERT_EQ(lookups.due(), now + limits::resolve_wait);
  now = now + (limits::resolve_wait - 1us);
  EXPECT_TRUE(ask(1));
  lookups.on_timer(now);
  EXPECT_TRUE(answers.empty());
  now = now + 1us;
  lookups.on_timer(now);
  EXPECT_EQ(answers, std::vector<int>{503});
  say(0, row(0s));
  EXPECT_EQ(answers.size(), 1u) << "it was answered";
  EXPECT_EQ(lookups.due(), now + (limits::resolve_wait - 1us));
}

TEST_F(ClientLookupsTest, AnOldRowIsNoAnswer) {
  ask(0);
  const std::chrono::seconds fresh = limits::identity_fresh;
  say(0, row(fresh), false);
  EXPECT_TRUE(answers.empty()) << "a newer one is on its way";
  say(0, row(fresh - 1s), false);
  EXPECT_EQ(answers, std::vector<int>{200});
  ask(0);
  say(0, row(fresh), true);
  EXPECT_EQ(answers, (std::vector<int>{200, 502})) << "nobody knows better";
}

TEST_F(ClientLookupsTest, EachFailureHasItsStatus) {
  for (const auto code : {ec::not_found, ec::malformed, ec::unreachable,
                          ec::limit_reached}) {
    ask(0);
    say(0, fail(code, "x"));
  }
  auto gone = row(0s);
  gone.tombstoned = true;
  ask(0);
  say(0, gone);
  EXPECT_EQ(answers, (std::vector<int>{404, 502, 502, 503, 404}));
}

// A server that is not a directory knows no DID. A directory that fails
// sometimes is still believed about unregistered DIDs.
TEST_F(ClientLookupsTest, ADirectoryThatFailsSaysNothingOfADid) {
  const auto unknown = fail(ec::not_found, "the DID is not registered");
  health_finding wrong;
  wrong.cause = health_cause::directory;
  wrong.error = "in words that no directory uses";
  EXPECT_EQ(fact_of(unknown, {}).error().code, ec::not_found);
  const auto told = fact_of(unknown, {wrong});
  EXPECT_EQ(told.error().code, ec::unreachable);
  EXPECT_NE(told.error().context.find(wrong.error), std::string::npos);
  wrong.level = health_level::degraded;
  EXPECT_EQ(fact_of(unknown, {wrong}).error().code, ec::not_found);
  wrong.level = health_level::failing;
  EXPECT_TRUE(fact_of(row(1s), {wrong})) << "who is found is found";
}

} // namespace weir::actors
