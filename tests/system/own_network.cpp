#include "tests/system/own_network.hpp"

#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <linux/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weir::tests {

namespace {

/// Names the file to create.
constexpr const char* mark = "WEIR_IN_OWN_NETWORK";
constexpr int forbidden = 77;
constexpr int broken = 78;

// All functions here run between fork and exec.

bool write_file(const char* path, const std::string& text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  const bool good = fd >= 0
                    && write(fd, text.data(), text.size())
                         == static_cast<ssize_t>(text.size());
  close(fd);
  return good;
}

/// The user outside becomes root of these namespaces.
bool enter() {
  const auto user = std::to_string(getuid());
  const auto group = std::to_string(getgid());
  return unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS) == 0
         && write_file("/proc/self/setgroups", "deny")
         && write_file("/proc/self/uid_map", "0 " + user + " 1")
         && write_file("/proc/self/gid_map", "0 " + group + " 1");
}

sockaddr as_address(std::string_view text) {
  sockaddr_in x{};
  x.sin_family = AF_INET;
  inet_pton(AF_INET, std::string{text}.c_str(), &x.sin_addr);
  sockaddr out{};
  memcpy(&out, &x, sizeof(x));
  return out;
}

bool raise_loopback(const std::vector<std::string_view>& addresses) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq device{};
  strcpy(device.ifr_name, "lo");
  device.ifr_flags = IFF_UP | IFF_RUNNING;
  bool good = ioctl(fd, SIOCSIFFLAGS, &device) == 0;
  for (size_t i = 0; good && i < addresses.size(); ++i) {
    snprintf(device.ifr_name, sizeof(device.ifr_name), "lo:%zu", i);
    device.ifr_addr = as_address(addresses[i]);
    good = ioctl(fd, SIOCSIFADDR, &device) == 0;
    device.ifr_netmask = as_address("255.255.255.255");
    good = good && ioctl(fd, SIOCSIFNETMASK, &device) == 0;
  }
  close(fd);
  return good;
}

/// This mount is private to the namespace.
bool ask_loopback_for_names(const std::string& file) {
  return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0
         && mount(file.c_str(), "/etc/resolv.conf", nullptr, MS_BIND, nullptr)
              == 0;
}

[[noreturn]] void run_inside(const std::vector<std::string_view>& addresses,
                             const temp_dir& dir, const std::string& filter) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!enter())
    _exit(forbidden);
  if (raise_loopback(addresses)
      && ask_loopback_for_names(dir.at("resolv.conf"))) {
    setenv(mark, dir.at("ran").c_str(), 1);
    for (const auto* x : {"GTEST_OUTPUT", "GTEST_SHARD_INDEX",
                          "GTEST_TOTAL_SHARDS", "GTEST_SHARD_STATUS_FILE"})
      unsetenv(x);
    execl("/proc/self/exe", "system_test", filter.c_str(), nullptr);
  }
  perror("the test's own network");
  _exit(broken);
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

bool in_own_network(const std::vector<std::string_view>& addresses) {
  if (const auto* file = std::getenv(mark)) {
    std::ofstream{file} << "ran";
    return true;
  }
  const temp_dir dir;
  std::ofstream{dir.at("resolv.conf")} << "nameserver 127.0.0.1\n";
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const auto filter = std::string{"--gtest_filter="} + test->test_suite_name()
                      + '.' + test->name();
  const auto child = fork();
  if (child == 0)
    run_inside(addresses, dir, filter);
  EXPECT_GT(child, 0);
  const auto status = child > 0 ? wait_for(child) : -1;
  if (status == forbidden && std::getenv("WEIR_REQUIRE_NAMESPACES") == nullptr)
    [] {
      GTEST_SKIP() << "no namespaces for users on this system";
    }();
  else
    EXPECT_TRUE(status == 0 && std::filesystem::exists(dir.at("ran")))
      << "it failed in its own network, see above: " << status;
  return false;
}

} // namespace weir::tests
