#include "apps/weir/process_limits.hpp"

#include "apps/weir/limits.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <limits>
#include <new>
#include <poll.h>
#include <string>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

namespace weir::apps {

namespace {

/// It allocates nothing, since there may be no memory. It waits only a moment
/// for a reader, so that the process always ends.
[[noreturn]] void say_and_abort(const char* what, const char* remedy) {
  constexpr int patience_ms = 250;
  pollfd out{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&out, 1, patience_ms) == 1)
    std::fprintf(stderr, "weir: ends: %s%s\n", what, remedy);
  std::abort();
}

[[noreturn]] void on_terminate() {
  if (const auto why = std::current_exception())
    try {
      std::rethrow_exception(why);
    } catch (const std::bad_alloc&) {
      say_and_abort("the system gives it no more memory",
                    ": raise ulimit -v, or MemoryMax of the service");
    } catch (const std::system_error& x) {
      if (x.code() == std::errc::resource_unavailable_try_again)
        say_and_abort("the system gives it no further thread",
                      ": raise ulimit -u and -v, or TasksMax of the service");
      say_and_abort(x.what(), "");
    } catch (const std::exception& x) {
      say_and_abort(x.what(), "");
    } catch (...) {
    }
  say_and_abort("an error occurred that nothing handles", "");
}

} // namespace

uint64_t raise_descriptor_limit() {
  constexpr auto unknown = std::numeric_limits<uint64_t>::max();
  rlimit x{};
  if (::getrlimit(RLIMIT_NOFILE, &x) != 0)
    return unknown;
  const auto before = x.rlim_cur;
  x.rlim_cur = x.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &x) == 0 ? x.rlim_cur : before;
}

result<void> check_descriptors(uint64_t allowed) {
  if (allowed >= limits::descriptors_min)
    return {};
  return fail(ec::invalid_argument,
              "this process may open " + std::to_string(allowed)
                + " files and sockets, and a node needs at least "
                + std::to_string(limits::descriptors_min)
                + ": raise ulimit -n, or LimitNOFILE of the service");
}

void open_standard_descriptors() {
  for (const int x : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(x, F_GETFD) == -1 && errno == EBADF)
      static_cast<void>(::open("/dev/null", O_RDWR)); // The least that is free.
}

void explain_aborts() {
  std::set_terminate(on_terminate);
}

} // namespace weir::apps
