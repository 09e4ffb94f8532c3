#include "tests/support/temp_dir.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/kill_network.hpp"
#include "tests/system/patience.hpp"
#include "tests/system/small_disk.hpp"
#include "tests/system/store_left.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <mutex>
#include <vector>

// architecture.md, When the disk fills up, from a user's view: the program on a
// file system that is really full, and what it does when there is room again.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

/// The status and body of `/readyz`.
std::string readiness(apps::web_client& web, const node_addresses& at) {
  const auto answer = web.get(at.operations + "/readyz");
  return answer ? std::to_string(answer->status) + ' '
                    + std::string{as_text(answer->body)}
                : "no answer";
}

size_t occurrences(const std::string& what, const std::string& in) {
  size_t out = 0;
  for (auto i = in.find(what); i != std::string::npos; i = in.find(what, i + 1))
    ++out;
  return out;
}

/// The program, the network that it follows and an application that copies its
/// events.
class followed_program {
public:
  followed_program(const std::string& data, std::vector<std::string> options)
    : node(net.arguments(data, std::move(options))),
      at(parse_ready(node.read_line(node_patience).value_or(""))) {
    listen();
  }

  /// Waits until `/readyz` says this.
  bool says(const std::string& what) {
    return eventually(node_patience, [&] {
      return readiness(*web, at).find(what) != std::string::npos;
    });
  }

  /// Waits until the application has what the network has.
  bool converges() {
    return eventually(node_patience, [&] {
      if (consumer->over())
        listen(); // Connects again, as every client does.
      const std::lock_guard lock{guard};
      difference = net.difference(copy);
      return difference.empty();
    });
  }

  int reading() { return web->get(at.data + "/repos").value().status; }

  int adding() {
    return web
      ->post(at.data + "/repos/add", R"({"dids":["did:web:away.test"]})")
      .value()
      .status;
  }

  /// Ends the program. @param data Its store.
  void check_the_end(const std::string& data) {
    node.send(SIGTERM);
    EXPECT_EQ(node.wait(node_patience), 0) << state();
    EXPECT_EQ(occurrences("ready", node.output()), 1u)
      << "whoever started it is told once";
    EXPECT_EQ(copy.counts().conflicts, 0u) << "no id had two contents";
    EXPECT_EQ(store_left::read(data).findings, "");
  }

  /// Explains a failed expectation.
  std::string state() {
    return difference + readiness(*web, at) + tail_of(node.errors());
  }

  followed_network net{5, 20, 400};
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
  program node;
  const node_addresses at;
  std::mutex guard;
  apps::event_copy copy;
  std::string difference;
  std::unique_ptr<channel_client> consumer;

private:
  void listen() {
    consumer = std::make_unique<channel_client>(
      web->transport(), at.data, [&](const auto& texts) {
        const std::lock_guard lock{guard};
        std::vector<uint64_t> acks;
        for (const auto text : texts)
          acks.push_back(copy.take(text, {}).value().id);
        return acks;
      });
  }
};

} // namespace

TEST(SmallDiskTest, TheProgramPausesIsReadOnlyAndGoesOnAsRoomComesAndGoes) {
  const temp_dir dir;
  const small_disk disk{dir.at("disk"), "size=160m"};
  if (!disk.mounted())
    GTEST_SKIP() << "this machine does not let us mount a file system";
  ballast others{disk.at()};
  const auto data = disk.at() + "/data";
  followed_program x{data, {"--disk-reserve", "32MiB"}};
  ASSERT_TRUE(x.converges()) << x.state();

  others.leave(24 * megabyte);
  EXPECT_TRUE(x.says("[\"disk: the disk of data_dir has ")) << x.state();
  others.go();
  EXPECT_TRUE(x.says("200 ")) << x.state();

  for (int round = 0; round < 2; ++round) {
    x.net.life().set_rate(200);
    others.leave(0);
    EXPECT_TRUE(x.says("only read until there is room")) << x.state();
    EXPECT_EQ(x.reading(), 200);
    EXPECT_EQ(x.adding(), 503);
    x.net.life().set_rate(0);
    others.go();
    EXPECT_TRUE(x.says("200 ")) << x.state();
    EXPECT_TRUE(x.converges()) << x.state();
  }
  x.check_the_end(data);
}

// Its bytes are free, but LevelDB needs a new file each time its log is full.
TEST(SmallDiskTest, ADiskWithoutInodesIsTriedUntilItTakesFilesAgain) {
  const temp_dir dir;
  const small_disk disk{dir.at("disk"), "size=512m,nr_inodes=300"};
  if (!disk.mounted())
    GTEST_SKIP() << "this machine does not let us mount a file system";
  crowd_of_files others{disk.at()};
  const auto data = disk.at() + "/data";
  // LevelDB ends a log after a sixteenth of the memory.
  followed_program x{data,
                     {"--disk-reserve", "32MiB", "--memory-limit", "128MiB",
                      "--sync-parallelism", "2"}};
  ASSERT_TRUE(x.converges()) << x.state();

  EXPECT_TRUE(eventually(node_patience, [&] {
    x.net.life().traffic().make(1'000);
    others.grow(); // LevelDB may have removed old files.
    return readiness(*x.web, x.at).find("refuses writes") != std::string::npos;
  })) << x.state();
  EXPECT_TRUE(x.says("[\"store: the store is only read")) << x.state();
  EXPECT_TRUE(x.says("No space left on device while ")) << x.state();
  EXPECT_EQ(x.reading(), 200);
  EXPECT_EQ(x.adding(), 503);
  EXPECT_EQ(occurrences("disk_refuses_writes", x.node.errors()), 1u);
  EXPECT_EQ(occurrences("node_starts_anew", x.node.errors()), 0u)
    << "a start would fail";
  others.go();
  EXPECT_TRUE(x.says("200 ")) << x.state();
  EXPECT_TRUE(x.converges()) << x.state();
  x.check_the_end(data);
}

// The disk takes the trial, but a start needs more, because LevelDB makes a
// table of its log.
TEST(SmallDiskTest, AStartAnewThatFindsNoSpaceIsTriedAgainUntilAStopIsWanted) {
  const temp_dir dir;
  const small_disk disk{dir.at("disk"), "size=160m"};
  if (!disk.mounted())
    GTEST_SKIP() << "this machine does not let us mount a file system";
  ballast others{disk.at()};
  const auto data = disk.at() + "/data";
  followed_program x{data, {"--disk-reserve", "1B"}};
  const auto fails_to_start = [&](size_t times) {
    x.net.life().traffic().make(4'000);
    EXPECT_TRUE(x.converges()) << x.state();
    x.net.life().set_rate(200);
    others.leave(0);
    EXPECT_TRUE(x.says("only read until there is room")) << x.state();
    x.net.life().set_rate(0);
    others.shrink(megabyte / 2);
    return eventually(node_patience, [&] {
      return occurrences(R"("seconds":"1"})", x.node.errors()) == times;
    });
  };
  ASSERT_TRUE(fails_to_start(1)) << x.state();
  others.go();
  EXPECT_TRUE(x.says("200 ")) << x.state();
  ASSERT_TRUE(fails_to_start(2)) << x.state();
  x.check_the_end(data);
}

// ADR 26: the disk of a partition's own directory is full, and not that of
// data_dir.
TEST(SmallDiskTest, TheDirectoryOfThePartitionThatIsFullIsNamed) {
  const temp_dir dir;
  const auto data = dir.at("data");
  const auto place = data + "/partition-1";
  followed_network net{1, 1, 1};
  const auto arguments
    = net.arguments(data, {"--disk-reserve", "32MiB", "--partitions", "2"});
  {
    program first{arguments};
    ASSERT_TRUE(first.read_line(node_patience)) << tail_of(first.errors());
    first.send(SIGTERM);
    ASSERT_EQ(first.wait(node_patience), 0) << tail_of(first.errors());
  }
  std::filesystem::rename(place, dir.at("before"));
  const small_disk disk{place, "size=96m"};
  if (!disk.mounted())
    GTEST_SKIP() << "this machine does not let us mount a file system";
  std::filesystem::copy(dir.at("before"), place,
                        std::filesystem::copy_options::recursive);
  const auto web = apps::web_client::make();
  program node{arguments};
  const auto at = parse_ready(node.read_line(node_patience).value_or(""));
  ASSERT_NE(at.data, "") << tail_of(node.errors());
  ballast others{place};
  others.leave(24 * megabyte);
  const auto words = "[\"disk: the disk of " + place + " has ";
  EXPECT_TRUE(eventually(node_patience, [&] {
    return readiness(*web, at).find(words) != std::string::npos;
  })) << readiness(*web, at);
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0) << tail_of(node.errors());
  EXPECT_NE(node.errors().find("the disk of " + place), std::string::npos);
}

// architecture.md, When the disk fills up: killed while it resumes after the
// disk was full.
TEST(SmallDiskTest, AProgramThatDiesAsItResumesHasLostNothing) {
  const temp_dir dir;
  const small_disk disk{dir.at("disk"), "size=160m"};
  if (!disk.mounted())
    GTEST_SKIP() << "this machine does not let us mount a file system";
  ballast others{disk.at()};
  const auto data = disk.at() + "/data";
  kill_network net{6, 0};
  durable_consumer consumer{dir.at("taken"), 6};
  const auto web = apps::web_client::make();
  const auto arguments = net.arguments(
    data, {"--disk-reserve", "32MiB", "--consumer-retry", "60s"});
  const auto start = [&](const program& node, const std::string& line) {
    const auto at = parse_ready(line);
    EXPECT_NE(at.data, "") << tail_of(node.errors());
    consumer.connect(net.transport(), at.data, false, false);
    return at;
  };
  {
    program node{arguments, {"WEIR_CRASH_AT=disk.resumed:1"}};
    const auto at = start(node, node.read_line(node_patience).value_or(""));
    ASSERT_EQ(net.converge(consumer, at), "") << tail_of(node.errors());
    net.life().set_rate(200);
    others.leave(0);
    ASSERT_TRUE(eventually(node_patience,
                           [&] {
                             return readiness(*web, at).find("only read until")
                                    != std::string::npos;
                           }))
      << tail_of(node.errors());
    net.life().set_rate(0);
    others.go();
    ASSERT_EQ(node.wait(node_patience), -SIGKILL) << tail_of(node.errors());
    consumer.end_connection();
  }
  const auto left = store_left::read(data);
  EXPECT_EQ(left.findings, "");
  consumer.check_acks(left, false);
  program node{arguments};
  const auto at = start(node, node.read_line(node_patience).value_or(""));
  EXPECT_EQ(net.converge(consumer, at), "") << tail_of(node.errors());
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0) << tail_of(node.errors());
  consumer.end_connection();
  net.check(consumer, dir.at("taken"), data);
}

} // namespace weir::tests
