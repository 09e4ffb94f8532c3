#include "apps/weir/host_accounts.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/hostile_host.hpp"

#include <gtest/gtest.h>

#include <set>

// A host's answers about its accounts: protocol-coverage.md 9 (listRepos in
// pages), 5 (getRepoStatus).

namespace weir::tests {

using apps::host_standing;

TEST(HostAccountsTest, EveryPageIsRead) {
  followed_network net{6, 1'050, 1'050};
  const auto web = apps::web_client::make();
  apps::host_accounts accounts{*web, net.urls().relay};
  std::set<std::string> seen;
  ASSERT_TRUE(accounts.each([&](const apps::listed_account& x) {
    EXPECT_TRUE(x.active && x.rev.defined());
    seen.insert(x.repo.str());
  }));
  EXPECT_EQ(seen.size(), 1'050u);
}

TEST(HostAccountsTest, AnAccountIsActiveOrNotOrNotThere) {
  followed_network net{6, 4, 40};
  const auto web = apps::web_client::make();
  apps::host_accounts accounts{*web, net.urls().relay};
  const auto standing = [&](size_t n) {
    return accounts.standing_of(net.life().truth().view(n).id).value();
  };
  const auto make = [&](simnet::fault_kind what, size_t n) {
    simnet::fault x;
    x.kind = what;
    x.did = net.life().truth().view(n).id.str();
    ASSERT_TRUE(net.life().faults().inject(x));
  };
  make(simnet::fault_kind::take_down, 1);
  make(simnet::fault_kind::remove, 2);
  EXPECT_EQ(standing(0), host_standing::active);
  EXPECT_EQ(standing(1), host_standing::inactive);
  EXPECT_EQ(standing(2), host_standing::absent);
  const auto stranger
    = atproto::did::trusted("did:plc:zzzzzzzzzzzzzzzzzzzzzzzz");
  EXPECT_EQ(accounts.standing_of(stranger).value(), host_standing::absent);
}

// A relay knows that an account was deleted, and answers that.
TEST(HostAccountsTest, AStateInsteadOfARefusalSaysTheSame) {
  hostile_host host;
  const auto web = apps::web_client::make();
  apps::host_accounts accounts{*web, host.url()};
  const auto who = atproto::did::trusted("did:plc:zzzzzzzzzzzzzzzzzzzzzzzz");
  for (const auto& [body, standing] :
       std::vector<std::pair<std::string, host_standing>>{
         {R"({"active":true})", host_standing::active},
         {R"({"active":false,"status":"deleted"})", host_standing::absent},
         {R"({"active":false,"status":"takendown"})", host_standing::inactive},
         {R"({"active":false})", host_standing::inactive}}) {
    host.on("/xrpc/com.atproto.sync.getRepoStatus",
            say(http_answer(200, body)));
    EXPECT_EQ(accounts.standing_of(who).value(), standing) << body;
  }
}

TEST(HostAccountsTest, AnAnswerThatIsNoObjectIsNoState) {
  hostile_host host;
  const auto web = apps::web_client::make();
  apps::host_accounts accounts{*web, host.url()};
  const auto who = atproto::did::trusted("did:plc:zzzzzzzzzzzzzzzzzzzzzzzz");
  for (const auto* body : {"", "[]", "no JSON"}) {
    host.on("/xrpc/com.atproto.sync.getRepoStatus",
            say(http_answer(200, body)));
    const auto standing = accounts.standing_of(who);
    ASSERT_FALSE(standing) << body;
    EXPECT_EQ(standing.error().context, "the answer is no JSON object") << body;
  }
}

TEST(HostAccountsTest, OnlyRefusalsOfARepoSaySomethingOfIt) {
  const auto said = [](int status, std::string_view word) {
    return apps::standing_in_refusal(status, R"({"error":")" + std::string{word}
                                               + "\"}");
  };
  EXPECT_EQ(said(400, "RepoNotFound"), host_standing::absent);
  EXPECT_EQ(said(404, ""), host_standing::absent);
  for (const auto* word : {"RepoDeactivated", "RepoSuspended", "RepoTakendown"})
    EXPECT_EQ(said(400, word), host_standing::inactive) << word;
  EXPECT_EQ(said(400, "InvalidRequest"), std::nullopt);
  EXPECT_EQ(said(500, "InternalServerError"), std::nullopt);
  EXPECT_EQ(said(200, "RepoNotFound"), std::nullopt);
}

} // namespace weir::tests
