#include "apps/weir/stop_signal.hpp"

#include "apps/weir/commands.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <thread>
#include <unistd.h>

namespace weir::apps {

struct stop_signal::impl {
  std::function<void()> on_hangup;
  int signals = -1;  ///< A signalfd.
  int failures = -1; ///< An eventfd.
  bool stopped = false;
  mutable std::mutex guard;
  std::optional<error> reason;
};

stop_signal::stop_signal(std::function<void()> on_hangup)
  : impl_(std::make_unique<impl>()) {
  impl_->on_hangup = std::move(on_hangup);
  sigset_t set;
  sigemptyset(&set);
  for (const int x : {SIGTERM, SIGINT, SIGHUP})
    sigaddset(&set, x);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN); // Then such a write fails.
  impl_->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  impl_->failures = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

stop_signal::~stop_signal() {
  close(impl_->signals);
  close(impl_->failures);
}

void stop_signal::wait() {
  while (!wait_for(std::chrono::hours{1}))
    ;
}

bool stop_signal::wait_for(std::chrono::milliseconds x) {
  const auto until = std::chrono::steady_clock::now() + x;
  while (!impl_->stopped) {
    std::array<pollfd, 2> fds{pollfd{impl_->signals, POLLIN, 0},
                              pollfd{impl_->failures, POLLIN, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      until - std::chrono::steady_clock::now());
    const auto most = std::max<int64_t>(left.count(), 0);
    if (poll(fds.data(), fds.size(), static_cast<int>(most)) <= 0)
      return false;
    // When there is a failure, too, the signal stays for the next wait.
    signalfd_siginfo taken{};
    if (fds[0].revents != 0 && fds[1].revents == 0
        && read(impl_->signals, &taken, sizeof taken) == sizeof taken
        && taken.ssi_signo == SIGHUP && impl_->on_hangup)
      impl_->on_hangup();
    else
      impl_->stopped = true;
  }
  return true;
}

void stop_signal::fail(const error& reason) {
  const std::lock_guard lock{impl_->guard};
  if (impl_->reason)
    return;
  impl_->reason = reason;
  const uint64_t one = 1;
  [[maybe_unused]] const auto n = write(impl_->failures, &one, sizeof one);
}

std::optional<error> stop_signal::failure() const {
  const std::lock_guard lock{impl_->guard};
  return impl_->reason;
}

struct watchdog::impl {
  std::mutex guard;
  std::condition_variable wake;
  bool over = false;
  std::thread worker;
};

watchdog::watchdog(std::chrono::seconds patience)
  : impl_(std::make_unique<impl>()) {
  impl_->worker = std::thread{[x = impl_.get(), patience] {
    std::unique_lock lock{x->guard};
    if (x->wake.wait_for(lock, patience, [x] {
          return x->over;
        }))
      return;
    std::fprintf(stderr, "weir: not drained after %lld s; ending hard\n",
                 static_cast<long long>(patience.count()));
    _exit(failed);
  }};
}

watchdog::~watchdog() {
  {
    const std::lock_guard lock{impl_->guard};
    impl_->over = true;
  }
  impl_->wake.notify_one();
  impl_->worker.join();
}

} // namespace weir::apps
