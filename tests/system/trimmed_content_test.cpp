#include "tests/system/disk_texts.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/live_repo.hpp"
#include "tests/system/log_reading.hpp"
#include "tests/system/store_left.hpp"

#include <gtest/gtest.h>

// What was deleted more than `log_retention` ago leaves the disk:
// docs/storage-format.md 5.2, docs/operations.md, How much disk.

namespace weir::tests {

namespace {

/// The time index of a log knows minutes.
void await_another_minute() {
  const auto minute = [] {
    return system_clock().wall_now().seconds() / 60;
  };
  const auto now = minute();
  EXPECT_TRUE(eventually(node_patience, [&] {
    return minute() != now;
  }));
}

} // namespace

// CONTENT-03; the envelope says what was there
TEST(TrimmedContentTest, ADeletedRecordsBytesLeaveTheDirectory) {
  hostile_stream stream;
  hostile_host host;
  host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  live_repo repo;
  const std::vector deleted{unlikely_text(1), unlikely_text(2)};
  const std::vector current{unlikely_text(3), unlikely_text(4)};
  repo.put("app.test.note/deleted", make_record(deleted[0]));
  repo.put("app.test.note/changed", make_record(deleted[1]));
  repo.put("app.test.note/current", make_record(current[0]));
  repo.commit();
  host.publish_and_serve(repo);
  hostile_node node{{"relay:" + host.url()}, host.url(),
                    {"--log-retention", "1s"}};
  node.add({repo.did()});
  ASSERT_EQ(node.await(repo.did(), "synced").status, "synced");
  const auto commit = [&] {
    ASSERT_TRUE(stream.send(repo.commit()));
    host.serve(repo);
    const auto rev = repo.rev().str();
    ASSERT_TRUE(eventually(node_patience, [&] {
      return node.repo(repo.did()).rev == rev;
    })) << node.log();
  };
  repo.remove("app.test.note/deleted");
  repo.put("app.test.note/changed", make_record(current[1]));
  commit();
  EXPECT_EQ(texts_on_disk(node.data_dir(), deleted), 2u);
  await_another_minute();
  repo.put("app.test.note/last", make_record("last"));
  commit();
  node.restart([] {}); // A lap begins with the node, and the next after 1 min.
  EXPECT_TRUE(eventually(10 * node_patience, [&] {
    return texts_on_disk(node.data_dir(), deleted) == 0;
  })) << node.log();
  EXPECT_EQ(texts_on_disk(node.data_dir(), current), 2u);
  EXPECT_EQ(node.metric("weir_versions_erased_total"), 2u);
  size_t states = 0;
  for (const auto& x : read_log(node, 10, "&collection=app.test.note"))
    if (text_in(x, "action") == "create" && text_in(x, "rkey") != "current"
        && text_in(x, "rkey") != "last") {
      EXPECT_EQ(text_in(x, "content"), "deleted");
      EXPECT_FALSE(x.contains("record"));
      ++states;
    }
  EXPECT_EQ(states, 2u);
  node.restart([&] {
    EXPECT_EQ(store_left::read(node.data_dir()).findings, "");
  });
}

} // namespace weir::tests
