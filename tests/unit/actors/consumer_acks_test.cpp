#include "actors/consumer/consumer.hpp"
#include "actors/consumer/limits.hpp"
#include "actors/support/ack_inbox.hpp"
#include "actors/support/event_channel.hpp"
#include "messages/consumer.hpp"
#include "storage/log/tail_cache.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

namespace weir::tests {
namespace {

using namespace weir::actors;

class channel_probe final : public event_channel {
public:
  bool send(std::string_view) override {
    ++sent;
    return true;
  }

  void cut() override {}

  size_t sent = 0;
};

/// A CONSUMER with one connection; each operation of the log is an event.
class ConsumerAcksTest : public ShellFixture {
protected:
  ConsumerAcksTest() {
    home->journal = journal.as<journal_actor>();
    home->readers = {reader.as<reader_actor>()};
    consumer_environment env;
    env.shared = shared;
    env.home = home;
    env.tail = &tail;
    env.name = "channel";
    consumer = keep(spawn_consumer(sys, std::move(env), {}, {}));
    tell(consumer, channel_opened{1, channel, acks});
    begin();
  }

  /// The JOURNAL answers the first client's rows, which are empty.
  void begin() {
    const auto rows = journal.take<journal_rows>();
    ASSERT_EQ(rows.size(), 1u);
    ASSERT_TRUE(rows[0].rows->consumers.empty());
    tell(consumer, rows_durable{rows[0].token});
  }

  /// A live commit of an account becomes durable.
  void commit(size_t account) {
    auto entry = std::make_shared<storage::log_entry>();
    entry->first = ++last;
    entry->repo = shell_repo(account);
    entry->live = true;
    entry->events_before = last - 1;
    storage::logged_operation op;
    op.scope = "app.a.x";
    op.rkey = "k";
    op.action = atproto::op_action::remove;
    entry->ops.push_back(std::move(op));
    const std::vector<storage::log_entry_ptr> all{std::move(entry)};
    tail.add(all);
    tell(consumer, log_advanced{last, last});
  }

  /// The client acks an event. @returns whether that wakes the CONSUMER
  bool ack(storage::op_id id) {
    const auto wakes = acks->put(home->numbers.id_of(id).value());
    if (wakes)
      tell(consumer, acks_waiting{});
    return wakes;
  }

  uint64_t position() const { return home->outbox.position; }

  storage::tail_cache tail{1};
  storage::op_id last = 0;
  probe journal{sys};
  probe reader{sys};
  std::shared_ptr<channel_probe> channel = std::make_shared<channel_probe>();
  std::shared_ptr<ack_inbox> acks = std::make_shared<ack_inbox>();
  consumer_actor consumer;
};

} // namespace

// limits::acks_wait
TEST_F(ConsumerAcksTest, OfManyAcksOnlyTheFirstWakesIt) {
  commit(1);
  ASSERT_EQ(channel->sent, 1u);
  EXPECT_TRUE(ack(1)) << "none came for long";
  EXPECT_EQ(position(), 1u);
  commit(2);
  EXPECT_FALSE(ack(2));
  pass(limits::acks_wait - 1us);
  EXPECT_EQ(position(), 1u);
  pass(1us);
  EXPECT_EQ(position(), 2u) << "it looks by itself";
  commit(3);
  EXPECT_FALSE(ack(3));
  commit(4);
  EXPECT_EQ(position(), 3u) << "the next turn takes it";
  pass(2 * limits::acks_wait);
  EXPECT_TRUE(ack(4)) << "none came for a while";
}

TEST_F(ConsumerAcksTest, AnAckThatAnEventWaitsForWakesIt) {
  commit(1);
  EXPECT_TRUE(ack(1));
  commit(2);
  commit(2);
  EXPECT_EQ(channel->sent, 2u) << "of one DID, one after another";
  EXPECT_TRUE(ack(2));
  EXPECT_EQ(channel->sent, 3u);
}

TEST_F(ConsumerAcksTest, TheLastAcksOfAConnectionCount) {
  commit(1);
  EXPECT_TRUE(ack(1));
  commit(2);
  EXPECT_FALSE(ack(2));
  tell(consumer, channel_closed{1});
  EXPECT_EQ(position(), 2u);
}

TEST_F(ConsumerAcksTest, AtItsEndTheLastAcksAreWritten) {
  commit(1);
  EXPECT_TRUE(ack(1));
  commit(2);
  EXPECT_FALSE(ack(2));
  tell(consumer, stop_actor{});
  const auto rows = journal.take<journal_rows>();
  ASSERT_EQ(rows.size(), 1u);
  ASSERT_EQ(rows[0].rows->consumers.size(), 1u);
  EXPECT_EQ(rows[0].rows->consumers[0].row->position(0), 2u);
}

} // namespace weir::tests
