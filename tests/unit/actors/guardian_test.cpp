#include "actors/node/guardian.hpp"
#include "actors/support/limits.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

// actors.md, Rules: one for one, a limited number of restarts, then the process
// ends.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::IsEmpty;
using testing::SizeIs;

class GuardianTest : public ShellFixture {
protected:
  /// A child that is started again when it dies.
  guarded_child restarted(std::string name) {
    guarded_child out{std::move(name), make(), {}};
    out.restart = [this] {
      return make();
    };
    return out;
  }

  guarded_child forever(std::string name) {
    return {std::move(name), make(), {}};
  }

  void guard(std::vector<guarded_child> all) {
    keep(spawn_guardian(sys, shared, std::move(all), [this](const error& why) {
      escalated.push_back(why.context);
    }));
  }

  caf::strong_actor_ptr make() {
    children.emplace_back(sys);
    return children.back().as<caf::strong_actor_ptr>();
  }

  void die(size_t child) {
    children.at(child).die();
    run();
  }

  std::vector<probe> children; ///< In the order in which they were made.
  std::vector<std::string> escalated;
};

} // namespace

TEST_F(GuardianTest, AChildIsMadeAnewSoOftenThenTheProcessEnds) {
  guard({restarted("upstream")});
  for (size_t i = 0; i < limits::child_restarts_max; ++i) {
    die(i);
    ASSERT_THAT(children, SizeIs(i + 2));
  }
  EXPECT_THAT(escalated, IsEmpty());
  pass(limits::child_restart_window);
  die(limits::child_restarts_max);
  EXPECT_THAT(children, SizeIs(limits::child_restarts_max + 1));
  ASSERT_THAT(escalated, SizeIs(1));
  EXPECT_THAT(escalated[0], testing::StartsWith("upstream died"));
}

TEST_F(GuardianTest, RestartsOutsideTheWindowNoLongerCount) {
  guard({restarted("upstream")});
  for (size_t i = 0; i < limits::child_restarts_max; ++i)
    die(i);
  pass(limits::child_restart_window + 1us);
  die(limits::child_restarts_max);
  EXPECT_THAT(children, SizeIs(limits::child_restarts_max + 2));
  EXPECT_THAT(escalated, IsEmpty());
}

// As in OTP, the intensity is a property of the supervisor, not of each child.
TEST_F(GuardianTest, RestartsOfAllChildrenCountTogether) {
  std::vector<guarded_child> all;
  for (size_t i = 0; i <= limits::child_restarts_max; ++i)
    all.push_back(restarted("upstream"));
  guard(std::move(all));
  for (size_t i = 0; i < limits::child_restarts_max; ++i)
    die(i);
  EXPECT_THAT(escalated, IsEmpty());
  die(limits::child_restarts_max);
  EXPECT_THAT(escalated, SizeIs(1));
}

TEST_F(GuardianTest, AChildThatCannotBeMadeAnewEndsTheProcessAtOnce) {
  guard({forever("journal"), restarted("upstream")});
  die(0);
  ASSERT_THAT(escalated, SizeIs(1));
  EXPECT_THAT(escalated[0], testing::StartsWith("journal died"));
}

TEST_F(GuardianTest, AChildThatEndsInGoodOrderIsForgotten) {
  guard({forever("journal"), restarted("upstream")});
  for (const size_t i : {0, 1}) {
    children[i].end();
    run();
  }
  EXPECT_THAT(children, SizeIs(2));
  EXPECT_THAT(escalated, IsEmpty());
}

// Its row cannot be read, which was already reported.
TEST_F(GuardianTest, AChildThatComesToNothingIsForgotten) {
  guarded_child child{"upstream", make(), [] {
                        return caf::strong_actor_ptr{};
                      }};
  guard({std::move(child), forever("journal")});
  die(0);
  EXPECT_THAT(escalated, IsEmpty());
  die(1);
  EXPECT_THAT(escalated, SizeIs(1));
}

} // namespace weir::tests
