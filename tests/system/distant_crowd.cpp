#include "tests/system/distant_crowd.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weir::tests {

namespace {

[[noreturn]] void serve(size_t hosts, misdeed deed, int up, int life) {
  const sched_param none{};
  sched_setscheduler(0, SCHED_IDLE, &none);
  hostile_host directory;
  const hostile_crowd crowd{hosts,
                            [deed](size_t) {
                              return deed;
                            },
                            std::numeric_limits<int64_t>::max(), directory};
  for (const auto& x : crowd.upstreams())
    dprintf(up, "%s\n", x.c_str());
  char ignored = 0;
  while (read(life, &ignored, 1) > 0)
    continue;
  _exit(0);
}

} // namespace

distant_crowd::distant_crowd(size_t hosts, misdeed deed) {
  std::array<int, 2> up{};
  std::array<int, 2> life{};
  if (pipe(up.data()) != 0 || pipe(life.data()) != 0)
    std::abort();
  const auto parent = getpid();
  process_ = fork();
  if (process_ == 0) {
    // Even if it is stopped, it ends with the test, however that ends.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(1);
    close(life[1]);
    serve(hosts, deed, up[1], life[0]);
  }
  close(up[1]);
  close(life[0]);
  life_ = life[1];
  auto* in = fdopen(up[0], "r");
  std::array<char, 256> line{};
  while (upstreams_.size() < hosts
         && std::fgets(line.data(), line.size(), in) != nullptr)
    upstreams_.emplace_back(line.data(), std::strlen(line.data()) - 1);
  std::fclose(in);
}

distant_crowd::~distant_crowd() {
  run(true);
  close(life_);
  waitpid(process_, nullptr, 0);
}

std::string distant_crowd::url(size_t i) const {
  return upstreams_.at(i).substr(upstreams_.at(i).find(':') + 1);
}

void distant_crowd::run(bool does) const {
  kill(process_, does ? SIGCONT : SIGSTOP);
}

} // namespace weir::tests
