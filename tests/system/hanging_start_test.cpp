#include "tests/support/temp_dir.hpp"
#include "tests/system/config_program.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/patience.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

// A stop is asked for while the node still starts, and the start hangs.
namespace weir::tests {

namespace {

/// A file whose opening waits for the test, as one of a disk that hangs does.
/// It is a lease (fcntl(2)). The kernel ends the wait after 45 s, or what
/// /proc/sys/fs/lease-break-time says.
class hanging_file {
public:
  explicit hanging_file(const std::string& at) {
    std::ofstream{at} << "no certificate\n";
    fd_ = ::open(at.c_str(), O_RDONLY | O_CLOEXEC);
    ::fcntl(fd_, F_SETSIG, SIGURG); // It is ignored; SIGIO ends a process.
    is_leased_ = ::fcntl(fd_, F_SETLEASE, F_WRLCK) == 0;
  }

  ~hanging_file() { ::close(fd_); }

  hanging_file(const hanging_file&) = delete;
  hanging_file& operator=(const hanging_file&) = delete;

  /// False on file systems without leases.
  bool is_leased() const noexcept { return is_leased_; }

  /// Somebody wants to open it, and waits.
  bool has_visitor() const { return ::fcntl(fd_, F_GETLEASE) != F_WRLCK; }

private:
  int fd_ = -1;
  bool is_leased_ = false;
};

} // namespace

// Otherwise only SIGKILL would end it.
TEST(HangingStartTest, AStopEndsItWithinTheTimeOfAnyStop) {
  const temp_dir dir;
  const hanging_file certificates{dir.at("certificates")};
  if (!certificates.is_leased())
    GTEST_SKIP() << "this file system has no leases";
  program node{{"run", "--data-dir", dir.at("data"), "--bind", "127.0.0.1:0",
                "--ca-file", dir.at("certificates")}};
  ASSERT_TRUE(eventually(node_patience,
                         [&] {
                           return certificates.has_visitor();
                         }))
    << node.errors();
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 1);
  EXPECT_THAT(node.errors(),
              testing::HasSubstr("weir: did not end within 9 s"));
}

} // namespace weir::tests
