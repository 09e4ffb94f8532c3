#include "actors/support/limits_health.hpp"
#include "tests/unit/actors/health_world.hpp"

// architecture.md, Health: a server that answers, but not as a directory.
namespace weir::tests {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

atproto::did account(char name) {
  return atproto::did::parse("did:plc:" + std::string(24, name)).value();
}

class HealthDirectoryTest : public health_world {
protected:
  /// A look-up of an account that the directory should know.
  void look_up_known(char name, look_up_fault fault) {
    machine.on_look_up(atproto::stable_hash(account(name).str()), fault, "no",
                       now);
  }

  /// The accounts that NODE must ask for, one check after the other.
  std::vector<atproto::did> probes() {
    std::vector<atproto::did> out;
    for (look(); probe; look())
      out.push_back(*probe);
    return out;
  }
};

} // namespace

// A relay can name DIDs that do not exist, and anybody can register DIDs whose
// documents are useless
TEST_F(HealthDirectoryTest, InventedAccountsNameNothing) {
  machine.remember(account('a'), true);
  for (const auto fault : {look_up_fault::unknown, look_up_fault::unusable})
    for (int i = 0; i < 20; ++i) {
      look_up(10, 1'000, fault);
      pass(limits::health_probe_interval);
      EXPECT_EQ(probe, account('a'));
      EXPECT_THAT(machine.findings(), IsEmpty()) << "it is not yet missed";
      look_up_known('a', look_up_fault::none);
      look();
      EXPECT_THAT(machine.findings(), IsEmpty());
      EXPECT_FALSE(probe) << "it was found";
    }
}

TEST_F(HealthDirectoryTest, WhenThoseThatWereProvedAreMissedItIsNamed) {
  look_up(100, 50, look_up_fault::none);
  for (const auto name : {'a', 'b', 'c'})
    machine.remember(account(name), true);
  look_up(10, enough - 1, look_up_fault::unusable);
  EXPECT_THAT(probes(), IsEmpty());
  look_up(20, 1, look_up_fault::unusable);
  EXPECT_THAT(probes(), SizeIs(3)) << "each of them, at once";
  look_up_known('a', look_up_fault::unusable);
  look_up_known('b', look_up_fault::lost);
  look_up_known('c', look_up_fault::unreachable);
  look();
  EXPECT_THAT(begun, IsEmpty()) << "of the third nobody knows";
  look_up_known('c', look_up_fault::unknown);
  look();
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_EQ(begun[0].cause, health_cause::directory);
  EXPECT_EQ(begun[0].where, "https://plc.test");
  EXPECT_EQ(begun[0].error, "no");
  EXPECT_THAT(probes(), IsEmpty());
  pass(limits::health_probe_interval);
  EXPECT_TRUE(probe);
  look_up_known('b', look_up_fault::none);
  look();
  EXPECT_THAT(ended, SizeIs(1));
  pass(limits::health_probe_interval);
  look_up(10, enough, look_up_fault::unknown);
  EXPECT_THAT(probes(), testing::ElementsAre(account('b')))
    << "who was found again is the measure";
}

// limits::health_known_max: the first accounts stay, whichever come later
TEST_F(HealthDirectoryTest, SoManyAreKeptUntilTheyAreMissedAlone) {
  const std::string names = "abcdefg";
  for (const auto name : names)
    machine.remember(account(name), true);
  machine.remember(account('h'), false);
  look_up(10, enough, look_up_fault::unknown);
  const auto asked = probes();
  ASSERT_THAT(asked, SizeIs(limits::health_known_max));
  for (size_t i = 0; i < asked.size(); ++i)
    EXPECT_EQ(asked[i], account(names[i]));
  look_up_known('a', look_up_fault::unknown);
  look_up_known('b', look_up_fault::none);
  machine.remember(account('g'), true);
  pass(limits::health_probe_interval);
  look_up(10, enough, look_up_fault::unknown);
  EXPECT_THAT(probes(), testing::Contains(account('g')))
    << "in the place of the first";
}

TEST_F(HealthDirectoryTest, WithNobodyProvedUnknownAndUnusableOnesCount) {
  for (const auto fault : {look_up_fault::unknown, look_up_fault::unusable}) {
    machine.remember(account('a'), false);
    look_up(10, enough, fault);
    look();
    EXPECT_THAT(begun, SizeIs(1)) << "another service answers there";
    look_up(0, 1, look_up_fault::none);
    look();
    EXPECT_THAT(ended, SizeIs(1));
  }
}

// Its look-ups are outside the budget: a directory that never had a document is
// not asked twice about each account
TEST_F(HealthDirectoryTest, WithNobodyProvedOneIsAskedForEachInterval) {
  const std::string names = "abcdefghij";
  size_t asked = 0;
  for (const auto name : names) {
    machine.remember(account(name), false);
    look_up(10, enough, look_up_fault::unknown);
    asked += probes().size();
  }
  EXPECT_EQ(asked, 1u);
  pass(limits::health_probe_interval);
  EXPECT_TRUE(probe);
}

// limits::health_known_max: after a start no other account may be looked up for
// a long time
TEST_F(HealthDirectoryTest, ThoseOfEarlierLivesAreAskedForOnceAndSuffice) {
  const std::string names = "abcde";
  ASSERT_EQ(names.size(), limits::health_known_max);
  for (const auto name : names)
    machine.recall(account(name), "https://pds.test", now);
  machine.recall(account('f'), "https://pds.test", now);
  EXPECT_THAT(probes(), SizeIs(names.size()));
  pass(2 * limits::health_probe_interval);
  EXPECT_THAT(probes(), IsEmpty()) << "nothing is in doubt";
  for (const auto name : names)
    look_up_known(name, look_up_fault::unusable);
  look();
  EXPECT_THAT(begun, SizeIs(1));
}

// A directory keeps every document
TEST_F(HealthDirectoryTest, DocumentsThatItLostCountBesideThoseThatItHas) {
  look_up(0, 60, look_up_fault::none);
  look_up(0, 30, look_up_fault::lost);
  machine.remember(account('a'), true);
  look();
  EXPECT_THAT(begun, IsEmpty()) << "half of them";
  look_up(30, 1, look_up_fault::lost);
  look();
  EXPECT_THAT(begun, SizeIs(1));
}

// It distinguishes a wrong directory from a host that lists invented accounts.
TEST_F(HealthDirectoryTest, TheOneToProveItByIsOneThatItHasNotMissed) {
  EXPECT_FALSE(machine.known());
  machine.remember(account('a'), false);
  EXPECT_EQ(machine.known(), account('a')) << "it should be there";
  machine.remember(account('b'), true);
  machine.remember(account('c'), true);
  EXPECT_EQ(machine.known(), account('b'));
  look_up_known('b', look_up_fault::lost);
  EXPECT_EQ(machine.known(), account('c'));
  look_up_known('c', look_up_fault::unusable);
  EXPECT_EQ(machine.known(), account('b')) << "there is no better one";
}

} // namespace weir::tests
