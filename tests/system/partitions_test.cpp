#include "apps/demo/proof.hpp"
#include "storage/verify/verify.hpp"
#include "tests/system/followed_node.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

// docs/adr/0026-partitions.md
namespace weir::tests {
namespace {

class PartitionsTest : public testing::Test, protected followed_node {
protected:
  PartitionsTest() : followed_node(31, 24, 200) {
    // nop
  }

  void run_with(const std::string& partitions) {
    run(arguments(false, {"--partitions", partitions}));
  }
};

} // namespace

// Applications see one log: each event of each store came once with its own id,
// those of an account in order, and acks reached their stores.
TEST_F(PartitionsTest, OneChannelCarriesTheLogsOfAll) {
  for (int life = 0; life < 2; ++life) {
    run_with("4");
    ASSERT_TRUE(await_equal()) << difference();
    for (size_t i = 0; i < 24; ++i)
      post(i, 1);
    EXPECT_TRUE(await_equal()) << difference();
    EXPECT_TRUE(eventually(node_patience, [&] {
      return metric("weir_consumer_backlog_events ") == 0;
    }));
    stop();
  }
  const auto stores = apps::closed_stores::open(data).value();
  ASSERT_EQ(stores.all().size(), 4u);
  EXPECT_EQ(storage::verify_stores(stores.all()).value().findings_total, 0u);
  for (const auto* x : stores.repos().each()) {
    const actors::all_stores alone{{}, {x}};
    EXPECT_FALSE(alone.page({}).value().empty());
  }
  copy.read([&](const apps::event_copy& x) {
    const auto found = apps::check_delivery(stores, x).value();
    EXPECT_TRUE(found.good()) << found.lost << " lost, " << found.altered
                              << " altered, " << found.invented << " invented";
    EXPECT_EQ(x.counts().conflicts + x.counts().out_of_order, 0u);
    return 0;
  });
}

TEST_F(PartitionsTest, TheirNumberNeverChanges) {
  run_with("2");
  ASSERT_TRUE(await_equal()) << difference();
  stop();
  const auto start = [this](const std::string& partitions) {
    return run_program(arguments(false, {"--partitions", partitions}));
  };
  const auto more = start("4");
  EXPECT_NE(more.status, 0);
  EXPECT_NE(more.errors.find("made with partitions = 2"), std::string::npos)
    << more.errors;
  EXPECT_NE(more.errors.find("partitions = 4"), std::string::npos);
  std::filesystem::remove_all(data + "/partition-1");
  const auto fewer = start("2");
  EXPECT_NE(fewer.status, 0);
  EXPECT_NE(fewer.errors.find(data + "/partition-1"), std::string::npos)
    << fewer.errors;
}

} // namespace weir::tests
