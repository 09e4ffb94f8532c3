#include "tests/support/net_raw_peer.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/config_program.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/patience.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// Tests of the test support itself.

namespace weir::tests {

namespace {

/// A test that starts a node, reports where it listens, and hangs.
[[noreturn]] void hang_with_node(const std::vector<std::string>& arguments,
                                 int said) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    program node{arguments};
    const auto line = node.read_line(node_patience).value_or("") + '\n';
    if (write(said, line.data(), line.size()) > 0)
      for (;;)
        pause();
  } catch (const std::exception& x) {
    std::fputs(x.what(), stderr);
  }
  _exit(1);
}

/// Reads up to the end of the first line.
std::string read_line(int from) {
  std::string out;
  for (char c = 0; read(from, &c, 1) == 1 && c != '\n';)
    out += c;
  return out;
}

} // namespace

// No node is left running. A second one on its directory would be refused while
// it lives.
TEST(ProgramTest, ATestThatIsKilledTakesItsNodesWithIt) {
  const temp_dir dir;
  const std::vector<std::string> arguments{
    "run", "--data-dir", dir.at("data"), "--bind", "127.0.0.1:0"};
  std::array<int, 2> said{};
  ASSERT_EQ(pipe2(said.data(), O_CLOEXEC), 0);
  const auto test = fork();
  if (test == 0)
    hang_with_node(arguments, said[1]);
  close(said[1]);
  const auto at = parse_ready(read_line(said[0]));
  close(said[0]);
  ASSERT_NE(at.data, "");
  const auto port = std::stoul(at.data.substr(at.data.rfind(':') + 1));
  auto peer = raw_peer::dial(static_cast<uint16_t>(port));
  ASSERT_EQ(kill(test, SIGKILL), 0);
  ASSERT_EQ(waitpid(test, nullptr, 0), test);
  EXPECT_EQ(peer.read_all(), ""); // Waits for its end.
  program next{arguments};
  EXPECT_TRUE(next.read_line(node_patience)) << next.errors();
  next.send(SIGTERM);
  EXPECT_EQ(next.wait(node_patience), 0);
}

} // namespace weir::tests
