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

namespace {

void make_readable(int event) {
  const uint64_t one = 1;
  [[maybe_unused]] const auto n = write(event, &one, sizeof one);
}

/// Ends the process when `in_time` was not asked within `patience`.
void end_unless(const std::stop_token& in_time, std::chrono::seconds patience) {
  std::mutex guard;
  std::condition_variable_any wake;
  std::unique_lock lock{guard};
  if (wake.wait_for(lock, in_time, patience, [&in_time] {
        return in_time.stop_requested();
      }))
    return;
  log::write_last_words("weir: did not end within "
                        + std::to_string(patience.count())
                        + " s; ends by force\n");
  _exit(failed);
}

} // namespace

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
  if (on_hangup_)
    sigdelset(&set, SIGHUP);
  end_signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  ended_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  unwatched_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

stop_signal::~stop_signal() {
  close(signals_);
  close(end_signals_);
  close(ended_);
  close(unwatched_);
}

void stop_signal::wait() {
  while (!wait_for(std::chrono::hours{1}))
    ;
}

bool stop_signal::wait_for(std::chrono::milliseconds x) {
  const auto until = std::chrono::steady_clock::now() + x;
  while (!stopped_) {
    std::array<pollfd, 2> fds{pollfd{signals_, POLLIN, 0},
                              pollfd{ended_, POLLIN, 0}};
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
  say_ended(); // A signal that was read is not seen by `watch` any more.
  return true;
}

bool stop_signal::watch(const std::stop_token& given_up) const {
  const std::stop_callback wake{given_up, [this] {
                                  make_readable(unwatched_);
                                }};
  std::array<pollfd, 3> fds{pollfd{end_signals_, POLLIN, 0},
                            pollfd{ended_, POLLIN, 0},
                            pollfd{unwatched_, POLLIN, 0}};
  while (poll(fds.data(), fds.size(), -1) < 0)
    ; // EINTR
  return fds[0].revents != 0 || fds[1].revents != 0;
}

void stop_signal::fail(const error& reason) {
  const std::lock_guard lock{guard_};
  if (reason_)
    return;
  reason_ = reason;
  say_ended();
}

void stop_signal::say_ended() const {
  make_readable(ended_);
}

watchdog::watchdog(std::chrono::seconds patience)
  : worker_{[patience](const std::stop_token& in_time) {
      end_unless(in_time, patience);
    }} {}

watchdog::watchdog(const stop_signal& stop, std::chrono::seconds patience)
  : worker_{[&stop, patience](const std::stop_token& in_time) {
      if (stop.watch(in_time))
        end_unless(in_time, patience);
    }} {}

} // namespace weir::apps
