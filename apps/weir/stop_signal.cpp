#include "apps/weir/stop_signal.hpp"

#include "apps/weir/commands.hpp"
#include "base/log.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace weir::apps {

stop_signal::stop_signal(std::function<void()> on_hangup)
  : on_hangup_(std::move(on_hangup)) {
  sigset_t set;
  sigemptyset(&set);
  for (const int x : {SIGTERM, SIGINT, SIGHUP})
    sigaddset(&set, x);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN); // Then a write beyond the limit fails.
  signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  failures_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

stop_signal::~stop_signal() {
  close(signals_);
  close(failures_);
}

void stop_signal::wait() {
  while (!wait_for(std::chrono::hours{1}))
    ;
}

bool stop_signal::wait_for(std::chrono::milliseconds x) {
  const auto until = std::chrono::steady_clock::now() + x;
  while (!stopped_) {
    std::array<pollfd, 2> fds{pollfd{signals_, POLLIN, 0},
                              pollfd{failures_, POLLIN, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      until - std::chrono::steady_clock::now());
    const auto most = std::max<int64_t>(left.count(), 0);
    if (poll(fds.data(), fds.size(), static_cast<int>(most)) <= 0)
      return false;
    // When there is a failure, too, the signal stays for the next wait.
    signalfd_siginfo taken{};
    if (fds[0].revents != 0 && fds[1].revents == 0
        && read(signals_, &taken, sizeof taken) == sizeof taken
        && taken.ssi_signo == SIGHUP && on_hangup_)
      on_hangup_();
    else
      stopped_ = true;
  }
  return true;
}

void stop_signal::fail(const error& reason) {
  const std::lock_guard lock{guard_};
  if (reason_)
    return;
  reason_ = reason;
  const uint64_t one = 1;
  [[maybe_unused]] const auto n = write(failures_, &one, sizeof one);
}

watchdog::watchdog(std::chrono::seconds patience)
  : worker_{[patience](const std::stop_token& ended) {
      std::mutex guard;
      std::condition_variable_any wake;
      std::unique_lock lock{guard};
      if (wake.wait_for(lock, ended, patience, [&ended] {
            return ended.stop_requested();
          }))
        return;
      log::write_last_words("weir: did not end within "
                            + std::to_string(patience.count())
                            + " s; ends by force\n");
      _exit(failed);
    }} {}

} // namespace weir::apps
