#include "storage/log/limits.hpp"
#include "tests/unit/actors/delivery_world.hpp"

#include <gtest/gtest.h>

// docs/operations.md, Watch it: the age of the oldest event that is due while
// no application is connected.
namespace weir::tests {
namespace {

using namespace std::chrono_literals;

class DeliveryDueAtRestTest : public testing::Test {
protected:
  void leave(const std::string& repo) { world.set_active(repo, false); }

  storage::op_id oldest() { return world.find_oldest().id; }

  delivery_world world;
};

} // namespace

TEST_F(DeliveryDueAtRestTest, WhatWaitsForAnAccountIsNotDueAfterARestart) {
  world.connect(1);
  leave(ann);
  world.append(ann, 3);
  world.append(bob);
  world.publish();
  world.ack_all();
  EXPECT_EQ(world.machine->backlog(), 3u);
  EXPECT_EQ(oldest(), 0u) << "before it";
  world.disconnect(1);
  world.restart_written();
  EXPECT_EQ(world.machine->backlog(), 3u);
  EXPECT_EQ(oldest(), 0u) << "after it";
  world.now = world.now + 5s;
  world.append(bob);
  world.publish();
  EXPECT_EQ(oldest(), world.last());
  EXPECT_EQ(world.find_oldest().written_us, world.now.micros);
}

TEST_F(DeliveryDueAtRestTest, ItIsFoundBehindPagesOfThoseThatWait) {
  leave(ann);
  for (size_t i = 0; i < 3 * limits::log_page_ops_max; ++i)
    world.append(ann);
  world.append(bob);
  world.publish();
  world.restart();
  EXPECT_EQ(oldest(), world.last());
}

TEST_F(DeliveryDueAtRestTest, WhatAccountsAreIsDueAndWhatWasErasedIsNot) {
  leave(ann);
  world.append(ann);
  world.append(bob);
  world.set_erased(bob);
  world.publish();
  world.restart();
  EXPECT_EQ(oldest(), 0u);
  world.append_account(ann, false);
  world.publish();
  EXPECT_EQ(oldest(), world.last());
}

// docs/api.md, `GET /stats/outbox-buffer`: what is counted besides what is due
TEST_F(DeliveryDueAtRestTest, TheBacklogHasWhatWaitsAndWhatWillBePassedOver) {
  actors::delivery_options options;
  options.filter
    = *wire::collection_filter::parse({"app.bsky.feed.post"});
  delivery_world x{options};
  x.set_active(ann, false);
  x.append(ann, 2);
  x.append(bob, 3);
  x.set_erased(bob);
  x.append(bob, 4, true, "app.bsky.feed.like");
  x.append_commit(bob);
  x.publish();
  EXPECT_EQ(x.machine->backlog(), 9u) << "nobody has read any of it";
  EXPECT_EQ(x.find_oldest().id, 0u) << "and nothing is due";
  x.connect(1);
  EXPECT_TRUE(x.sent.empty());
  EXPECT_EQ(x.machine->backlog(), 2u) << "records of an account that is away";
  x.append(bob);
  x.publish();
  EXPECT_EQ(x.machine->backlog(), 3u);
  x.ack_all();
  EXPECT_EQ(x.machine->backlog(), 2u);
  x.append_deletion(ann);
  x.publish();
  x.ack_all();
  x.pass(2min);
  EXPECT_EQ(x.machine->backlog(), 0u) << "erased, and told once";
  EXPECT_EQ(x.sent.size(), 2u);
}

TEST_F(DeliveryDueAtRestTest, AnApplicationThatComesChangesNothing) {
  leave(ann);
  world.append(ann, 2);
  world.append(bob);
  world.publish();
  world.restart();
  EXPECT_EQ(oldest(), 3u);
  world.connect(1);
  EXPECT_EQ(oldest(), 3u);
  world.ack_all();
  EXPECT_EQ(oldest(), 0u);
  leave(bob);
  world.set_active(ann, true);
  world.append_account(ann, true);
  world.publish();
  world.ack_all();
  EXPECT_EQ(world.machine->backlog(), 0u);
}

} // namespace weir::tests
