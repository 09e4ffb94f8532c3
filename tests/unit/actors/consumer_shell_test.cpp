#include "actors/consumer/consumer.hpp"
#include "actors/node/guardian.hpp"
#include "messages/consumer.hpp"
#include "storage/log/tail_cache.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

// actors.md, Rules: an actor that cannot go on ends with the reason.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::ElementsAre;

class ConsumerShellTest : public ShellFixture {
protected:
  ConsumerShellTest() {
    home->journal = journal.as<journal_actor>();
    home->readers = {reader.as<reader_actor>()};
    consumer_environment env;
    env.shared = shared;
    env.home = home;
    env.tail = &tail;
    env.name = "channel";
    actor = keep(spawn_consumer(sys, env, {}, {}));
    guarded_child child{"consumer",
                        caf::actor_cast<caf::strong_actor_ptr>(actor),
                        {}};
    keep(spawn_guardian(sys, shared, {child}, [this](const error& why) {
      escalated.push_back(why.context);
    }));
  }

  probe journal{sys};
  probe reader{sys};
  storage::tail_cache tail{1};
  consumer_actor actor;
  std::vector<std::string> escalated; ///< Why the process must end.
};

} // namespace

TEST_F(ConsumerShellTest, ALogThatCannotBeReadEndsTheProcessWithTheReason) {
  tell(actor, log_page{fail(ec::storage_failure, "bad block")});
  EXPECT_THAT(escalated,
              ElementsAre("consumer died: storage_failure: bad block"));
}

TEST_F(ConsumerShellTest, SoDoesAPartOfItForOneAccount) {
  did_page page;
  page.repo = shell_repo(1);
  page.entries = fail(ec::storage_failure, "bad block");
  tell(actor, std::move(page));
  EXPECT_THAT(escalated,
              ElementsAre("consumer died: storage_failure: bad block"));
}

} // namespace weir::tests
