#include "tests/support/temp_dir.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/kill_network.hpp"
#include "tests/system/patience.hpp"
#include "tests/system/store_left.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <vector>

// architecture.md, When the disk fills up, from a user's view: the program on a
// file system that is really full, and what it does when there is room again.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

/// A file system of its own for this process and its children, if the system
/// permits it.
class small_disk {
public:
  small_disk(const std::string& at, const char* options) : at_(at) {
    std::filesystem::create_directory(at);
    const auto uid = getuid();
    if (unshare(CLONE_NEWNS) != 0) {
      if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return;
      std::ofstream{"/proc/self/uid_map"} << "0 " << uid << " 1";
    }
    mounted_ = mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0
               && mount("small", at.c_str(), "tmpfs", 0, options) == 0;
  }

  ~small_disk() {
    if (mounted_)
      umount2(at_.c_str(), MNT_DETACH);
  }

  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;

  bool mounted() const noexcept { return mounted_; }
  const std::string& at() const noexcept { return at_; }

private:
  std::string at_;
  bool mounted_ = false;
};

/// Files of other programs on the same disk.
class ballast {
public:
  explicit ballast(std::string directory)
    : directory_(std::move(directory)), name_(directory_ + "/ballast") {
    // nop
  }

  /// Grows until at most `free` bytes are left. It writes data, because an
  /// allocation that does not fit is undone as a whole.
  void leave(uint64_t free) {
    const int file = open(name_.c_str(),
                          O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    const std::vector<char> piece(4'096);
    struct statvfs x {};
    while (statvfs(directory_.c_str(), &x) == 0
           && x.f_bavail * x.f_frsize > free
           && write(file, piece.data(), piece.size()) > 0) {
    }
    close(file);
  }

  void go() {
    unlink(name_.c_str());
  }

private:
  std::string directory_;
  std::string name_;
};

/// The status and body of `/readyz`.
std::string readiness(apps::web_client& web, const node_addresses& at) {
  const auto answer = web.get(at.operations + "/readyz");
  return answer ? std::to_string(answer->status) + ' '
                    + std::string{as_text(answer->body)}
                : "no answer";
}

} // namespace

TEST(SmallDiskTest, TheProgramPausesIsReadOnlyAndGoesOnAsRoomComesAndGoes) {
  const temp_dir dir;
  const small_disk disk{dir.at("disk"), "size=160m"};
  if (!disk.mounted())
    GTEST_SKIP() << "this machine does not let us mount a file system";
  ballast others{disk.at()};
  const auto data = disk.at() + "/data";
  followed_network net{5, 20, 400};
  const auto web = apps::web_client::make();
  program node{net.arguments(data, {"--disk-reserve", "32MiB"})};
  const auto at = parse_ready(node.read_line(node_patience).value_or(""));
  ASSERT_NE(at.data, "") << tail_of(node.errors());
  const auto says = [&](const std::string& what) {
    return eventually(node_patience, [&] {
      return readiness(*web, at).find(what) != std::string::npos;
    });
  };
  apps::event_copy copy;
  std::mutex guard;
  const auto listen = [&] {
    return std::make_unique<channel_client>(
      web->transport(), at.data, [&](const auto& texts) {
        const std::lock_guard lock{guard};
        std::vector<uint64_t> acks;
        for (const auto text : texts)
          acks.push_back(copy.take(text, {}).value().id);
        return acks;
      });
  };
  auto consumer = listen();
  std::string difference;
  const auto converges = [&] {
    return eventually(node_patience, [&] {
      if (consumer->over())
        consumer = listen(); // Connects again, as every client does.
      const std::lock_guard lock{guard};
      difference = net.difference(copy);
      return difference.empty();
    });
  };
  ASSERT_TRUE(converges()) << difference << tail_of(node.errors());

  others.leave(24 * megabyte);
  EXPECT_TRUE(says("[\"disk: the disk of data_dir has ")) << readiness(*web, at);
  others.go();
  EXPECT_TRUE(says("200 ")) << readiness(*web, at);

  for (int round = 0; round < 2; ++round) {
    net.life().set_rate(200);
    others.leave(0);
    EXPECT_TRUE(says("only read until there is room"))
      << readiness(*web, at) << tail_of(node.errors());
    EXPECT_EQ(web->get(at.data + "/repos").value().status, 200);
    EXPECT_EQ(
      web->post(at.data + "/repos/add", R"({"dids":["did:web:away.test"]})")
        .value()
        .status,
      503);
    net.life().set_rate(0);
    others.go();
    EXPECT_TRUE(says("200 ")) << readiness(*web, at) << tail_of(node.errors());
    EXPECT_TRUE(converges()) << difference << tail_of(node.errors());
  }
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0) << tail_of(node.errors());
  EXPECT_EQ(node.output().find("ready"), node.output().rfind("ready"))
    << "whoever started it is told once";
  EXPECT_EQ(copy.counts().conflicts, 0u) << "no id had two contents";
  EXPECT_EQ(store_left::read(data).findings, "");
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
