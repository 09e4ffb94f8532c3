#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace weir::tests {

/// The program `weir` as users start it: arguments in, lines and an exit
/// status out. Its environment has no WEIR_ variables but those given.
///
/// # Ownership
/// A process that still runs is killed with the object; where leaks are looked
/// for, it is told to end first. It also ends with the thread that made the
/// object, and so with a test that is killed.
///
/// # Errors
/// What a sanitizer or an assertion wrote to standard error fails the test.
class program {
public:
  explicit program(std::vector<std::string> arguments,
                   const std::vector<std::string>& variables = {});
  ~program();

  program(const program&) = delete;
  program& operator=(const program&) = delete;

  /// The next line of standard output; nothing when it ended or none came in
  /// time.
  std::optional<std::string> read_line(std::chrono::milliseconds at_most);

  void send(int signal) const;

  /// Its memory that is in RAM now; 0 once it has ended.
  size_t resident_bytes() const;

  /// The most it ever had there.
  size_t peak_bytes() const;

  /// Time of processors that it has used.
  std::chrono::nanoseconds cpu_time() const;

  /// The exit status, once it has ended; negative: killed by that signal;
  /// nothing when it did not end in time. Reads all output.
  std::optional<int> wait(std::chrono::seconds at_most);

  /// What came so far; all after `wait`.
  const std::string& output() const noexcept { return output_; }

  /// What it wrote to standard error so far. It never waits for a reader.
  std::string errors() const;

private:
  bool pump(std::chrono::steady_clock::time_point until);

  pid_t id_ = -1;
  int output_fd_ = -1;
  int errors_fd_ = -1; ///< A file in memory.
  std::string output_;
  size_t line_ = 0; ///< Where the next line begins.
};

/// Runs it to its end.
struct finished {
  int status = 0;
  std::string output;
  std::string errors;
};

finished run_program(std::vector<std::string> arguments,
                     const std::vector<std::string>& variables = {});

} // namespace weir::tests
