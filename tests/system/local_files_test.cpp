#include "storage/disk/safe_env_disk.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/config_program.hpp"
#include "tests/system/patience.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/stat.h>
#include <unistd.h>

// Which files of a node other users of the machine may read, and which objects
// they may place in its way.
namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using std::filesystem::perms;
namespace fs = std::filesystem;

bool is_private(const fs::path& x) {
  constexpr auto others = perms::group_all | perms::others_all;
  return (fs::symlink_status(x).permissions() & others) == perms::none;
}

bool says_tightened(const std::string& log) {
  return log.find("data_directory_made_private") != std::string::npos;
}

class LocalFilesTest : public testing::Test {
protected:
  std::vector<std::string> run_in(const std::string& data) const {
    return {"run", "--data-dir", data, "--bind", "127.0.0.1:0",
            "--log-level", "warn"};
  }

  /// A node creates its store there, and stops.
  std::string live(const std::string& data) const {
    program node{run_in(data)};
    EXPECT_TRUE(node.read_line(node_patience)) << node.errors();
    node.send(SIGTERM);
    EXPECT_EQ(node.wait(60s), 0);
    return node.errors();
  }

  /// The file of a store with this beginning and end of its name.
  static fs::path file_in(const fs::path& data, const std::string& begin,
                          const std::string& end) {
    for (const auto& x : fs::directory_iterator{data}) {
      const auto name = x.path().filename().string();
      if (name.starts_with(begin) && name.ends_with(end))
        return x.path();
    }
    return data / (begin + "000099" + end);
  }

  /// Replaces each file of a store that is read, one after the other. Both
  /// commands must refuse it at once.
  void refused_everywhere(const std::string& store,
                          const std::function<void(const fs::path&)>& replace) {
    for (const auto& [begin, end] :
         std::vector<std::pair<const char*, const char*>>{{"OWNER", ""},
                                                          {"FORMAT", ""},
                                                          {"CURRENT", ""},
                                                          {"MANIFEST-", ""},
                                                          {"", ".log"}}) {
      const auto copy = dir.at("copy");
      fs::remove_all(copy);
      fs::copy(store, copy);
      fs::permissions(copy, perms::owner_all);
      const auto file = file_in(copy, begin, end);
      ASSERT_TRUE(fs::remove(file)) << file;
      replace(file);
      for (const auto& command :
           {std::vector<std::string>{"verify", copy}, run_in(copy)}) {
        const auto x = run_program(command);
        EXPECT_EQ(x.status, 2) << command[0] << file;
        EXPECT_NE(x.errors.find(file.filename()), std::string::npos)
          << command[0] << file << x.errors;
      }
    }
  }

  /// Expects that the program ends at once and says why.
  static void expect_refused(const std::vector<std::string>& arguments,
                             const std::string& why) {
    program x{arguments};
    const auto command = testing::PrintToString(arguments);
    const auto status = x.wait(60s);
    ASSERT_TRUE(status) << command << " waits";
    EXPECT_GT(*status, 0) << command;
    EXPECT_NE(x.errors().find(why), std::string::npos)
      << command << x.errors();
  }

  const temp_dir dir;
};

} // namespace

TEST_F(LocalFilesTest, WhatANodeKeepsIsItsUsersAlone) {
  const auto data = dir.at("new/data");
  EXPECT_FALSE(says_tightened(live(data)));
  EXPECT_TRUE(is_private(data));
  size_t files = 0;
  for (const auto& x : fs::recursive_directory_iterator{data}) {
    EXPECT_TRUE(is_private(x.path())) << x.path();
    ++files;
  }
  EXPECT_GE(files, 5u);
}

TEST_F(LocalFilesTest, ADirectoryThatOthersMayReadIsTightened) {
  const auto data = dir.at("data");
  fs::create_directory(data);
  fs::permissions(data, perms::owner_all | perms::group_all
                          | perms::others_read | perms::others_exec);
  EXPECT_TRUE(says_tightened(live(data)));
  EXPECT_TRUE(is_private(data));
  EXPECT_FALSE(says_tightened(live(data))) << "it is said once";
}

TEST_F(LocalFilesTest, ADirectoryOfAnotherUserIsRefused) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give a directory away";
  const auto data = dir.at("data");
  fs::create_directory(data);
  ASSERT_EQ(::chown(data.c_str(), 65'534, 65'534), 0);
  const auto x = run_program(run_in(data));
  EXPECT_EQ(x.status, 2);
  EXPECT_NE(x.errors.find("belongs to another user"), std::string::npos)
    << x.errors;
  EXPECT_TRUE(fs::is_empty(data));
}

TEST_F(LocalFilesTest, NoLinkIsFollowedOrOverwritten) {
  const auto victim = dir.at("victim");
  for (const auto* name : {"OWNER", "FORMAT", "FORMAT.draft", "LOCK", "CURRENT",
                           "LOG", "MANIFEST-000001", "000003.log",
                           "000001.dbtmp"}) {
    std::ofstream{victim} << "precious content";
    const auto data = dir.at("data");
    fs::remove_all(data);
    fs::create_directory(data);
    fs::permissions(data, perms::owner_all);
    fs::create_symlink(victim, fs::path{data} / name);
    program node{run_in(data)};
    if (node.read_line(node_patience))
      node.send(SIGTERM);
    EXPECT_TRUE(node.wait(60s)) << name;
    std::string left;
    std::getline(std::ifstream{victim}, left);
    EXPECT_EQ(left, "precious content") << name;
  }
}

TEST_F(LocalFilesTest, LinksPipesAndEndlessFilesAreRefusedByEveryCommand) {
  const auto store = dir.at("store");
  live(store);
  refused_everywhere(store, [](const fs::path& x) {
    fs::create_symlink("/dev/zero", x);
  });
  refused_everywhere(store, [](const fs::path& x) {
    ASSERT_EQ(::mkfifo(x.c_str(), 0600), 0);
  });
  refused_everywhere(store, [](const fs::path& x) {
    fs::create_directory(x);
  });
}

TEST_F(LocalFilesTest, FilesLongerThanTheirKindAreNotRead) {
  const auto store = dir.at("store");
  live(store);
  for (const auto* name : {"FORMAT", "CURRENT", "MANIFEST-"}) {
    const auto file = file_in(store, name, "");
    const auto size = fs::file_size(file);
    fs::resize_file(file, uint64_t{1} << 40); // A sparse file.
    program x{{"verify", store}};
    EXPECT_EQ(x.wait(60s), 2) << name;
    EXPECT_NE(x.errors().find("has more than"), std::string::npos)
      << x.errors();
    fs::resize_file(file, size);
  }
  EXPECT_EQ(run_program({"verify", store}).status, 0);
}

// Each command and option that takes a file or a directory; a key of the
// configuration file is an option, too
TEST_F(LocalFilesTest, PipesAndDevicesAreNoFilesOfAnyOption) {
  const auto pipe = dir.at("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto ca_file = dir.at("ca.toml");
  std::ofstream{ca_file} << "data_dir = \"" << dir.at("data")
                         << "\"\nbind = \"127.0.0.1:0\"\nca_file = \"" << pipe
                         << "\"\n";
  const auto secret = dir.at("secret.toml");
  std::ofstream{secret} << "admin_password_file = \"" << pipe << "\"\n";
  using words = std::vector<std::string>;
  for (const auto& special : {pipe, std::string{"/dev/zero"}, dir.at("")})
    for (const auto& arguments :
         {words{"run", "--config", special},
          words{"config", "print", "--config", special},
          words{"config", "check", special},
          words{"run", "--admin-password-file", special},
          words{"config", "print", "--admin-password-file", special},
          words{"run", "--data-dir", dir.at("data"), "--bind", "127.0.0.1:0",
                "--ca-file", special},
          words{"simnet", "--corpus", special},
          words{"simnet", "--accounts", "1", "--records", "1", "--events", "1",
                "--write-corpus", special}})
      expect_refused(arguments, "it is no file");
  expect_refused({"run", "--config", ca_file}, "it is no file");
  expect_refused({"run", "--config", secret}, "it is no file");
  expect_refused({"config", "check", secret}, "it is no file");
  for (const auto& special : {pipe, std::string{"/dev/zero"}})
    for (const auto& arguments : {words{"verify", special}, run_in(special)})
      expect_refused(arguments, special);
}

TEST_F(LocalFilesTest, WhatAStoreSaysNeverReachesATerminalRaw) {
  const auto data = dir.at("data");
  fs::create_directory(data);
  fs::permissions(data, perms::owner_all);
  std::ofstream{data + "/FORMAT"}
    << "weir store\nformat: \x1b]0;PWN\x07\xc2\x9b\xe2\x80\xae\n";
  for (const auto& command :
       {std::vector<std::string>{"verify", data}, run_in(data)}) {
    const auto x = run_program(command);
    EXPECT_EQ(x.status, 2);
    EXPECT_NE(x.errors.find("\\u001b]0;PWN\\u0007\\u009b\\u202e"),
              std::string::npos)
      << x.errors;
    for (const auto* raw : {"\x1b", "\x07", "\xc2\x9b", "\xe2\x80\xae"})
      EXPECT_EQ(x.errors.find(raw), std::string::npos);
  }
}

} // namespace weir::tests
