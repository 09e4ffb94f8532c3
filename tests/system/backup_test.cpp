#include "actors/api/limits.hpp"
#include "storage/disk/partition_stores.hpp"
#include "storage/format/keys_log.hpp"
#include "tests/support/disk_trials.hpp"
#include "tests/support/net_fixture.hpp"
#include "tests/system/commit_load.hpp"
#include "tests/system/complete_network.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/small_disk.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <list>
#include <map>
#include <mutex>
#include <optional>

// `weir backup` of a running node, and `weir restore`: docs/operations.md, Back
// it up; docs/storage-format.md 7.

namespace weir::tests {

namespace {

namespace files = std::filesystem;
using testing::HasSubstr;

uint64_t id_of_event(std::string_view event) {
  constexpr std::string_view name = R"("id":)";
  return std::stoull(std::string{event.substr(event.find(name) + name.size())});
}

/// Keeps each event under its id.
class remembering_application {
public:
  void connect(const std::string& data_url) {
    channel_ = std::make_unique<channel_client>(
      web_->transport(), data_url, [this](const auto& events) {
        const std::lock_guard lock{guard_};
        std::vector<uint64_t> out;
        for (const auto x : events) {
          out.push_back(id_of_event(x));
          const auto [at, fresh] = kept_.emplace(out.back(), x);
          mixed_up_ += fresh || at->second == x ? 0u : 1u;
        }
        return out;
      });
  }

  void hang_up() { channel_.reset(); }

  uint64_t last() const {
    const std::lock_guard lock{guard_};
    return kept_.empty() ? 0 : kept_.rbegin()->first;
  }

  /// Number of events that came with the id of another event.
  size_t mixed_up() const {
    const std::lock_guard lock{guard_};
    return mixed_up_;
  }

private:
  std::unique_ptr<apps::web_client> web_ = apps::web_client::make();
  mutable std::mutex guard_;
  std::map<uint64_t, std::string> kept_;
  size_t mixed_up_ = 0;
  std::unique_ptr<channel_client> channel_; ///< Ends first.
};

/// `weir backup` into this directory.
finished back_up(hostile_node& node, const std::string& backups) {
  return run_program({"backup", backups, "--node", node.operations_url()});
}

/// Restores the newest backup to a directory that is made, and checks it.
void restore(const std::string& backups, const std::string& to) {
  const auto done = run_program({"restore", backups, to});
  EXPECT_EQ(done.status, 0) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("events from now on have ids from"));
  const auto checked = run_program({"verify", to});
  EXPECT_EQ(checked.status, 0) << checked.output << checked.errors;
}

class BackupTest : public testing::Test {
protected:
  void SetUp() override {
    app.connect(net.node().data_url());
    ASSERT_TRUE(net.await_lively());
  }

  bool all_came() {
    return eventually(node_patience, [this] {
      return net.node().metric("weir_consumer_backlog_events ") == 0;
    });
  }

  void write() {
    for (size_t i = 0; i < 12; ++i)
      net.life().traffic().post(i);
    EXPECT_TRUE(net.await_whole());
  }

  /// Puts a restored store in the place of the one that a node has.
  void put_back(const std::string& data) {
    files::remove_all(data);
    restore(backups, data);
  }

  const temp_dir dir;
  const std::string backups = dir.at("backups");
  complete_network net{121};
  remembering_application app;
};

} // namespace

TEST_F(BackupTest, ARestoredNodeGoesOnAndGivesNoIdTwice) {
  const auto first = back_up(net.node(), backups);
  ASSERT_EQ(first.status, 0) << first.errors;
  EXPECT_THAT(first.output, HasSubstr(backups + "/backup-000001\n"));
  write();
  const auto second = back_up(net.node(), backups);
  ASSERT_EQ(second.status, 0) << second.errors;
  EXPECT_GT(
    net.node().metric("weir_backup_last_success_timestamp_seconds "), 0u);
  write();
  EXPECT_TRUE(all_came());
  const auto seen = app.last();
  app.hang_up();
  net.node().restart([&] {
    put_back(net.node().data_dir());
    const auto good = run_program({"restore", "--check", backups});
    EXPECT_EQ(good.status, 0) << good.errors;
    EXPECT_THAT(good.output, HasSubstr("good: " + backups + "/backup-000002"));
  });
  app.connect(net.node().data_url());
  EXPECT_TRUE(net.await_lively());
  EXPECT_TRUE(all_came());
  EXPECT_GT(app.last(), seen + (uint64_t{1} << 32));
  EXPECT_EQ(app.mixed_up(), 0u);
  EXPECT_EQ(net.node().metric("weir_consumer_foreign_acks_total"), 0u);
  // A restored node is backed up like any other, beside the older backups.
  EXPECT_EQ(back_up(net.node(), backups).status, 0);
  EXPECT_FALSE(files::exists(backups + "/backup-000001"));
}

// The process ends while files are copied, and so is any file in its turn.
TEST_F(BackupTest, OneThatAKillEndedIsNoneAndGoesWithTheNext) {
  ASSERT_EQ(back_up(net.node(), backups).status, 0);
  for (const auto* point : {"backup.file:1", "backup.file:2"}) {
    write();
    app.hang_up();
    net.node().die_at(
      point,
      [&] {
        const auto killed = back_up(net.node(), backups);
        EXPECT_EQ(killed.status, 1);
        EXPECT_THAT(killed.errors, HasSubstr("the node does not answer"));
      },
      [&] {
        EXPECT_TRUE(files::exists(backups + "/incomplete"));
        const auto good = run_program({"restore", "--check", backups});
        EXPECT_EQ(good.status, 0) << good.errors;
        EXPECT_THAT(good.output, HasSubstr("/backup-000001"));
        const auto checked = run_program({"verify", net.node().data_dir()});
        EXPECT_EQ(checked.status, 0) << checked.output;
      });
    app.connect(net.node().data_url());
    EXPECT_TRUE(net.await_whole());
  }
  ASSERT_EQ(back_up(net.node(), backups).status, 0);
  EXPECT_FALSE(files::exists(backups + "/incomplete"));
  restore(backups, dir.at("restored"));
}

TEST_F(BackupTest, TheStoreOfAStoppedNodeIsBackedUpWithoutOne) {
  const auto running
    = run_program({"backup", backups, "--data-dir", net.node().data_dir()});
  EXPECT_EQ(running.status, 1);
  EXPECT_THAT(running.errors, HasSubstr("in use by process"));
  ASSERT_EQ(back_up(net.node(), backups).status, 0);
  net.node().restart([this] {
    const auto done
      = run_program({"backup", backups, "--data-dir", net.node().data_dir()});
    EXPECT_EQ(done.status, 0) << done.errors;
    restore(backups, dir.at("restored"));
  });
  const auto nobody = run_program({"backup", backups, "--node",
                                   "http://127.0.0.1:9"});
  EXPECT_EQ(nobody.status, 1);
  EXPECT_THAT(nobody.errors, HasSubstr("--data-dir"));
}

TEST_F(BackupTest, WhereItCannotBeIsSaidAndNothingHappens) {
  const auto refused = [this](const std::string& where) {
    const auto x = back_up(net.node(), where);
    EXPECT_EQ(x.status, 1) << where;
    EXPECT_THAT(x.errors, HasSubstr(where));
    return x.errors;
  };
  EXPECT_THAT(refused(net.node().data_dir() + "/backups"),
              HasSubstr("is in the data directory"));
  EXPECT_THAT(refused(dir.at("no/backups")),
              HasSubstr("the directory above it does not exist"));
  std::ofstream{dir.at("file")} << "x";
  EXPECT_THAT(refused(dir.path().string()), HasSubstr("holds other files"));
  refused(dir.at("file"));
  const auto to_a_store
    = run_program({"restore", backups, net.node().data_dir()});
  EXPECT_EQ(to_a_store.status, 2);
  EXPECT_THAT(to_a_store.errors, HasSubstr("there is no backup in"));
  ASSERT_EQ(back_up(net.node(), backups).status, 0);
  EXPECT_THAT(
    run_program({"restore", backups, net.node().data_dir()}).errors,
    HasSubstr("is not empty"));
  EXPECT_EQ(run_program({"restore", backups}).status, 2);
  EXPECT_EQ(run_program({"restore", "--check", backups, "x"}).status, 2);
  write();
}

// limits::backup_body_bytes_max
TEST_F(BackupTest, ALargerBodyIsRefused) {
  const auto web = apps::web_client::make();
  auto body = R"({"directory":")" + backups + R"("})";
  body.resize(limits::backup_body_bytes_max, ' ');
  const auto url = net.node().operations_url() + "/backup";
  EXPECT_EQ(web->post(url, body).value().status, 200);
  body += ' ';
  EXPECT_EQ(web->post(url, body).value().status, 413);
}

// The disk of the backups has no room, and that of the node has.
TEST(BackupDiskTest, AFullDiskIsSaidAndTheNodeGoesOn) {
  const temp_dir dir;
  const small_disk disk{dir.at("disk"), "size=60m"};
  if (!disk.mounted())
    GTEST_SKIP() << "this machine does not let us mount a file system";
  complete_network net{122};
  ASSERT_TRUE(net.await_whole());
  const auto backups = disk.at() + "/backups";
  const auto full = back_up(net.node(), backups);
  EXPECT_EQ(full.status, 1);
  EXPECT_THAT(full.errors, HasSubstr("the disk of the backup " + backups));
  EXPECT_THAT(full.errors, HasSubstr("make room on that disk"));
  EXPECT_TRUE(files::exists(backups));
  EXPECT_FALSE(files::exists(backups + "/incomplete"));
  EXPECT_EQ(net.node().metric("weir_backup_failed_total "), 1u);
  EXPECT_THAT(net.node().log(), HasSubstr("\"event\":\"backup_failed\""));
  EXPECT_TRUE(net.await_lively());
  EXPECT_EQ(back_up(net.node(), dir.at("backups")).status, 0);
}

namespace {

/// Commits without a pause, while backups are made.
class BackupLoadTest : public NetFixture {
protected:
  static constexpr size_t accounts = 64;

  BackupLoadTest() {
    host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    std::vector<atproto::did> dids;
    for (size_t i = 0; i < accounts; ++i) {
      auto& repo = repos.emplace_back(1 + i);
      repo.put("app.test.note/first", make_record("first"));
      repo.commit();
      host.publish_and_serve(repo);
      dids.push_back(repo.did());
    }
    node.emplace(std::vector{"relay:" + host.url()}, host.url(),
                 // Small buffers: logs change and tables are merged often.
                 std::vector<std::string>{"--memory-limit", "128MiB",
                                          "--sync-parallelism", "1",
                                          "--partitions", "1"});
    node->add(dids);
    for (const auto& x : dids)
      EXPECT_EQ(node->await(x, "synced").status, "synced");
  }

  /// Makes the store as large as a run by hand wants it, by rows that no node
  /// reads; a check would report them.
  bool pad() {
    const auto mebibytes = number_from("WEIR_BACKUP_MIB", 0);
    if (mebibytes > 0)
      node->restart([&] {
        storage::database_options where;
        where.directory = node->data_dir();
        const auto store = storage::open_partition_stores(where, 0).value();
        std::string value(1 << 16, '\0');
        for (uint32_t i = 0; i < mebibytes * 16; ++i) {
          const auto random = seeded_random(i);
          for (size_t at = 0; at < value.size(); at += sizeof(uint64_t)) {
            const auto word = random->next();
            std::memcpy(value.data() + at, &word, sizeof word);
          }
          storage::write_batch row;
          row.put(encode_key(storage::time_index_key{9, i}), value);
          store.front()->write(row, storage::sync_mode::relaxed).value();
        }
      });
    return mebibytes > 0;
  }

  const temp_dir dir;
  const std::string backups = dir.at("backups");
  hostile_stream stream;
  hostile_host host;
  std::list<live_repo> repos;
  std::optional<hostile_node> node;
};

} // namespace

TEST_F(BackupLoadTest, CommitsGoOnWhileBackupsAreMade) {
  constexpr size_t between = 2'000;
  constexpr int times = 4;
  const auto padded = pad();
  commit_load load{network, node->data_url(), stream, repos};
  for (int i = 0; i < times; ++i) {
    load.ask();
    ASSERT_TRUE(load.await(between)) << load.surprise();
    const auto made = back_up(*node, backups);
    ASSERT_EQ(made.status, 0) << made.errors << tail_of(node->log());
    std::cout << made.output << load.ask() << std::endl;
    if (padded)
      continue;
    const auto at = dir.at("restored" + std::to_string(i));
    restore(backups, at);
    files::remove_all(at);
  }
  EXPECT_TRUE(load.stop()) << load.surprise();
  EXPECT_EQ(load.surprise(), "");
}

} // namespace weir::tests
