#include "apps/weir/service_notify.hpp"

#include "apps/weir/limits.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace weir::apps {

namespace {

struct socket_address {
  sockaddr_un value{};
  socklen_t size = 0;
};

result<socket_address> parse_address(std::string_view text) {
  socket_address out;
  out.value.sun_family = AF_UNIX;
  if (text.front() != '/' && text.front() != '@')
    return fail(ec::invalid_argument, "NOTIFY_SOCKET names no local socket");
  if (text.size() >= sizeof out.value.sun_path)
    return fail(ec::invalid_argument, "the name in NOTIFY_SOCKET is too long");
  std::ranges::copy(text, out.value.sun_path);
  if (text.front() == '@') // Its length ends it, not a zero byte.
    out.value.sun_path[0] = '\0';
  out.size
    = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + text.size());
  return out;
}

result<void> send_datagram(std::string_view address, std::string_view text) {
  const auto to = parse_address(address);
  if (!to)
    return to.error();
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return fail(ec::unreachable, std::strerror(errno));
  timeval wait{};
  wait.tv_sec = std::chrono::seconds{limits::service_message_wait}.count();
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
  const auto sent
    = ::sendto(fd, text.data(), text.size(), MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&to->value), to->size);
  const int reason = errno;
  ::close(fd);
  if (sent < 0)
    return fail(ec::unreachable, std::strerror(reason));
  return {};
}

/// A line of the protocol. The text cannot break out of it.
std::string status_line(std::string_view text) {
  return "\nSTATUS=" + printable(text);
}

} // namespace

service_notify::service_notify(const char* address)
  : address_(address == nullptr ? "" : address) {}

void service_notify::ready(std::string_view status) {
  was_ready_ = true;
  tell("READY=1" + status_line(status));
}

void service_notify::reloading() {
  if (!was_ready_)
    return;
  // Type=notify-reload of newer managers needs the time; others ignore the
  // line.
  using namespace std::chrono;
  const auto now = steady_clock::now().time_since_epoch();
  tell("RELOADING=1\nMONOTONIC_USEC="
       + std::to_string(duration_cast<microseconds>(now).count()));
}

void service_notify::stopping(std::string_view status) {
  tell("STOPPING=1" + status_line(status));
}

void service_notify::status(std::string_view text) {
  tell(status_line(text).substr(1));
}

void service_notify::tell(const std::string& message) const {
  if (address_.empty())
    return;
  if (const auto sent = send_datagram(address_, message); !sent)
    log::warn("service_manager_unreachable",
              {{"message", message.substr(0, message.find('\n'))},
               {"reason", sent.error().context}});
}

} // namespace weir::apps
