#include "tests/system/consistency_node.hpp"
#include "tests/system/default_node.hpp"

#include <future>

// The consistency model on disk: what is stored while the node is down, and how
// much is written.

namespace weir::tests {

// CONS-19: a large row would be seen in what the store writes
TEST_F(ConsistencyTest, AnEventWithoutAResetDoesNotWriteTheRow) {
  start_synced();
  constexpr size_t size = 100'000;
  node->restart([this] {
    row_left([](storage::repo_row& row) { row.error.assign(size, 'x'); });
  });
  size_t before = 0;
  for (const auto counts : {false, true, true}) {
    send(next());
    ASSERT_TRUE(await_rev("last_stream_rev", repo.rev()));
    if (!counts)
      before = bytes_of_directory(node->data_dir());
  }
  EXPECT_LT(bytes_of_directory(node->data_dir()), before + size);
  send_info();
  send(next());
  ASSERT_TRUE(await_rev("first_rev", repo.rev()));
  EXPECT_GT(bytes_of_directory(node->data_dir()), before + size);
}

// CONS-27, CONS-28: the check of all rows finds rows with status `synced` whose
// repo was never fetched, or not since its upstream reported a change
TEST_F(ConsistencyTest, WhatIsCalledSyncedAndWasNotFetchedIsFetched) {
  start_synced();
  send(next()); // After this event its stream can be resumed.
  ASSERT_TRUE(await_rev("last_stream_rev", repo.rev()));
  host.serve(repo);
  host.on(list_path, say(listing_of(repo)));
  ASSERT_TRUE(await_complete());
  ASSERT_TRUE(node->await_metric("weir_upstream_cursor", 1));
  for (const auto never : {true, false}) {
    if (!never) {
      next(); // Its event does not come.
      host.serve(repo);
    }
    node->restart([&] {
      row_left([&](storage::repo_row& row) {
        if (never)
          row.last_indexed_rev = {};
        else
          row.first_rev = repo.rev();
      });
    });
    EXPECT_TRUE(node->await_metric("weir_backfill_started_total", 1)) << never;
    EXPECT_TRUE(await_complete());
  }
}

// CONS-06, CONS-14: a fetch that is cut short by a kill has indexed nothing
TEST_F(ConsistencyTest, AKillDuringAFetchLeavesNoRevThatWasNotFetched) {
  const auto body = repo.export_car();
  const std::string car{as_text(body)};
  std::promise<void> over;
  const auto wait = over.get_future().share();
  host.on_repo(repo.did(), [=](raw_peer& peer, const std::string&) {
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: "
              + std::to_string(car.size()) + "\r\n\r\n"
              + car.substr(0, car.size() / 2));
    wait.wait();
  });
  start();
  ASSERT_TRUE(node->await_metric("weir_backfill_started_total", 1));
  ASSERT_TRUE(eventually(node_patience, [&] {
    return text_told("status") == "syncing";
  }));
  node->kill([] {});
  EXPECT_TRUE(told().at("last_indexed_rev").is_null());
  EXPECT_FALSE(complete());
  host.serve(repo);
  over.set_value();
  node->kill([] {});
  EXPECT_TRUE(await_complete());
  EXPECT_EQ(text_told("last_indexed_rev"), repo.rev().str());
}

// CONS-14: the same for a kill between the records and the end
TEST_F(ConsistencyTest, TheRevOfAFetchIsWrittenAfterItsRecords) {
  start_synced();
  const auto before = repo.rev();
  next(); // No event reports it.
  host.serve(repo);
  node->die_at(
    "synced.batch:1",
    [this] {
      const auto body = R"({"dids":[")" + repo.did().str() + "\"]}";
      EXPECT_TRUE(web->post(node->data_url() + "/repos/resync", body));
    },
    [&] {
      const auto left = row_left([](auto&) {});
      EXPECT_EQ(left.status, storage::repo_status::syncing);
      EXPECT_EQ(left.last_indexed_rev, before);
    });
  ASSERT_TRUE(await_rev("last_indexed_rev", repo.rev()));
  EXPECT_TRUE(await_complete());
}

} // namespace weir::tests
