#include "tests/system/config_program.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <stdexcept>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace weir::tests {

namespace {

using std::chrono::steady_clock;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& x : texts)
    out.push_back(x.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string>
make_environment(const std::vector<std::string>& variables) {
  auto out = variables;
  for (char** x = environ; *x != nullptr; ++x)
    if (const std::string_view each{*x};
        !each.starts_with("WEIR_") || each.starts_with("WEIR_PARTITIONS="))
      out.emplace_back(*x);
  return out;
}

/// Appends the bytes that are there; false at the end.
bool read_some(int from, std::string& to) {
  std::array<char, 4096> buffer{};
  const auto n = read(from, buffer.data(), buffer.size());
  if (n > 0)
    to.append(buffer.data(), static_cast<size_t>(n));
  return n > 0 || (n < 0 && errno == EINTR);
}

/// The position of the message with which a bug ended a process: a sanitizer's
/// report, a failed assertion, an exception that was not caught.
size_t find_last_words(std::string_view errors) {
  for (const std::string_view sign :
       {"Sanitizer", ": runtime error: ", ": Assertion ", "terminate called"})
    if (const auto at = errors.find(sign); at != std::string_view::npos)
      return errors.rfind('\n', at) + 1;
  return std::string_view::npos;
}

/// Runs between fork and exec. The process ends when its parent ends, however
/// that happens.
/// @param outlets Replace standard output or error. The pipe for the output
/// stays open in the program nevertheless: that it is closed shows its end.
[[noreturn]] void become_program(pid_t parent, int output, int errors,
                                 const std::map<int, int>& outlets,
                                 char* const* arguments,
                                 char* const* environment) {
  const int input = open("/dev/null", O_RDONLY);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent
      && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0
      && dup2(errors, STDERR_FILENO) >= 0) {
    if (input > STDERR_FILENO)
      close(input);
    for (const auto& [number, outlet] : outlets) {
      static_cast<void>(dup(output));
      static_cast<void>(dup2(outlet, number));
    }
    execve(WEIR_PROGRAM, arguments, environment);
  }
  constexpr std::string_view why = "cannot start " WEIR_PROGRAM "\n";
  [[maybe_unused]] const auto said = write(errors, why.data(), why.size());
  _exit(127);
}

/// Leaks are searched when a process ends by itself.
#ifdef __SANITIZE_ADDRESS__
constexpr bool finds_leaks = true;
#else
constexpr bool finds_leaks = false;
#endif

} // namespace

program::program(std::vector<std::string> arguments,
                 const std::vector<std::string>& variables,
                 const std::map<int, int>& outlets) {
  std::array<int, 2> out{};
  errors_fd_ = memfd_create("errors", MFD_CLOEXEC);
  if (errors_fd_ < 0 || pipe2(out.data(), O_CLOEXEC) != 0)
    throw std::runtime_error("no pipe");
  arguments.insert(arguments.begin(), WEIR_PROGRAM);
  auto environment = make_environment(variables);
  const auto argv = pointers(arguments);
  const auto envp = pointers(environment);
  const auto parent = getpid();
  id_ = fork();
  if (id_ == 0)
    become_program(parent, out[1], errors_fd_, outlets, argv.data(),
                   envp.data());
  close(out[1]);
  output_fd_ = out[0];
  if (id_ < 0)
    throw std::runtime_error("cannot start " WEIR_PROGRAM);
}

program::~program() {
  if (id_ > 0 && finds_leaks) {
    send(SIGTERM);
    wait(std::chrono::seconds{30});
  }
  if (id_ > 0) {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  const auto said = errors();
  if (const auto at = find_last_words(said); at != std::string::npos)
    ADD_FAILURE() << "weir was ended by a bug:\n" << said.substr(at);
  close(output_fd_);
  close(errors_fd_);
}

void program::send(int signal) const {
  kill(id_, signal);
}

size_t program::resident_bytes() const {
  std::ifstream in{"/proc/" + std::to_string(id_) + "/statm"};
  size_t all = 0;
  size_t resident = 0;
  in >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

std::chrono::nanoseconds program::cpu_time() const {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(id_, &clock) != 0 || clock_gettime(clock, &used) != 0)
    return {};
  return std::chrono::seconds{used.tv_sec}
         + std::chrono::nanoseconds{used.tv_nsec};
}

size_t program::peak_bytes() const {
  std::ifstream in{"/proc/" + std::to_string(id_) + "/status"};
  constexpr std::string_view name = "VmHWM:";
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(name))
      return std::stoul(line.substr(name.size())) * 1'024;
  return 0;
}

/// Reads once; false when the output is closed or the time is over.
bool program::pump(steady_clock::time_point until) {
  const auto left
    = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now());
  pollfd fd{output_fd_, POLLIN, 0};
  return left.count() > 0 && poll(&fd, 1, static_cast<int>(left.count())) > 0
         && read_some(output_fd_, output_);
}

std::string program::errors() const {
  std::string out;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = pread(errors_fd_, buffer.data(), buffer.size(),
                                 static_cast<off_t>(out.size())))
                      > 0;)
    out.append(buffer.data(), static_cast<size_t>(n));
  return out;
}

std::optional<std::string>
program::read_line(std::chrono::milliseconds at_most) {
  const auto until = steady_clock::now() + at_most;
  for (;;) {
    const auto end = output_.find('\n', line_);
    if (end != std::string::npos) {
      auto out = output_.substr(line_, end - line_);
      line_ = end + 1;
      return out;
    }
    if (!pump(until))
      return std::nullopt;
  }
}

std::optional<int> program::wait(std::chrono::seconds at_most) {
  const auto until = steady_clock::now() + at_most;
  while (pump(until))
    ;
  if (steady_clock::now() >= until)
    return std::nullopt;
  int status = 0;
  if (waitpid(id_, &status, 0) != id_)
    return std::nullopt;
  id_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

finished run_program(std::vector<std::string> arguments,
                     const std::vector<std::string>& variables) {
  program x{std::move(arguments), variables};
  const auto status = x.wait(std::chrono::seconds{60});
  if (!status)
    throw std::runtime_error("the program did not end");
  return {*status, x.output(), x.errors()};
}

} // namespace weir::tests
