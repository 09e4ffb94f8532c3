#include "actors/repo/repo_outbox.hpp"
#include "messages/identity.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

// The host whose turn a look-up takes (actors.md, Who is looked up next).
namespace weir::tests {
namespace {

using namespace weir::actors;

constexpr uint32_t a_relay = 1;
constexpr uint32_t a_host = 2;

class AskIdentityTest : public ShellFixture {
protected:
  AskIdentityTest() {
    shared->identity = identity.as<identity_actor>();
    put(a_relay, "https://relay.test", true);
    put(a_host, "https://a.crowd.test", false);
  }

  void put(uint32_t id, const std::string& origin, bool relay) {
    upstream_view x;
    x.id = id;
    x.origin = origin;
    x.relay = relay;
    shared->upstreams.put(x);
  }

  void ask(const repo_effects& x) {
    ask_identity(x, shell_repo(1), asker.as<repo_actor>(), *shared);
    run();
  }

  std::string turn(uint32_t cause) {
    repo_effects x;
    x.refresh_identity = true;
    x.identity_asked = 7;
    x.identity_cause = cause;
    ask(x);
    const auto asked = identity.take<identity_ask>();
    EXPECT_EQ(asked.size(), 1u);
    EXPECT_TRUE(asked.at(0).fresh);
    EXPECT_EQ(asked.at(0).number, 7u);
    return asked.at(0).by;
  }

  probe identity{sys};
  probe asker{sys};
};

} // namespace

TEST_F(AskIdentityTest, AHostsFrameTakesATurnOfItsSite) {
  EXPECT_EQ(turn(a_host), "crowd.test");
}

TEST_F(AskIdentityTest, ARelaySpeaksForTheHostsOfItsAccounts) {
  EXPECT_EQ(turn(a_relay), "");
  EXPECT_EQ(turn(0), "") << "nobody's frame";
  EXPECT_EQ(turn(9), "") << "an upstream that is gone";
}

TEST_F(AskIdentityTest, WhatIsAwaitedCanHaveAnotherCause) {
  repo_effects x;
  ask(x);
  EXPECT_EQ(identity.count<identity_ask>(), 0u);
  x.share_identity = true;
  x.identity_cause = a_host;
  ask(x);
  EXPECT_EQ(identity.count<identity_ask>(), 0u);
  const auto shared_with = identity.take<identity_shared>();
  ASSERT_EQ(shared_with.size(), 1u);
  EXPECT_EQ(shared_with[0].repo, shell_repo(1));
  EXPECT_EQ(shared_with[0].by, "crowd.test");
}

} // namespace weir::tests
