#include "actors/consumer/consumer.hpp"
#include "actors/node/guardian.hpp"
#include "actors/support/ack_inbox.hpp"
#include "actors/support/event_channel.hpp"
#include "messages/consumer.hpp"
#include "storage/log/tail_cache.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

// actors.md, Rules: an actor that cannot go on ends with the reason.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::ElementsAre;

class deaf_channel final : public event_channel {
public:
  bool send(std::string_view) override { return false; }
  void cut() override {}
};

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
  storage::tail_cache tail{6}; ///< It lacks the first five operations.
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

// ADR 35: an application that was never sent anything needs no part of the log
TEST_F(ConsumerShellTest, TheLogIsKeptFromTheFirstClientOn) {
  EXPECT_FALSE(home->outbox.uses_log);
  tell(actor, log_advanced{5, 5});
  EXPECT_EQ(reader.count<reader_job>(), 1u) << "how old is the first event?";
  tell(actor, channel_opened{1, std::make_shared<deaf_channel>(),
                             std::make_shared<ack_inbox>()});
  EXPECT_TRUE(home->outbox.uses_log);
  EXPECT_EQ(reader.count<reader_job>(), 0u)
    << "trimming that was decided before may still be under way";
  const auto rows = journal.take<journal_rows>();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].rows->empty());
  home->stats.whole_from = 3; // What was trimmed before the answer counts.
  tell(actor, rows_durable{rows[0].token});
  EXPECT_EQ(reader.count<reader_job>(), 1u);
  tell(actor, channel_closed{1});
  EXPECT_TRUE(home->outbox.uses_log) << "it may come again";
}

} // namespace weir::tests
