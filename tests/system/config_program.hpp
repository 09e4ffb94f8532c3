#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace weir::tests {

/// The program `weir` as users start it: it gets arguments and returns lines
/// and an exit status. Its environment has no WEIR_ variables but those given.
///
/// # Ownership
/// A process that still runs is killed with the object. In builds that look for
/// leaks it is first asked to end. It also ends with the thread that made the
/// object, and so with a test that is killed.
///
/// # Errors
/// The test fails when a sanitizer or an assertion wrote to standard error.
class program {
public:
  /// @param outlets Its standard output or error and the descriptor of the test
  /// that it gets as such; `output` or `errors` has nothing then.
  explicit program(std::vector<std::string> arguments,
                   const std::vector<std::string>& variables = {},
                   const std::map<int, int>& outlets = {});
  ~program();

  program(const program&) = delete;
  program& operator=(const program&) = delete;

  /// The next line of standard output; nothing when the output has ended or no
  /// line came in time.
  std::optional<std::string> read_line(std::chrono::milliseconds at_most);

  void send(int signal) const;

  /// Its memory that is in RAM now, in bytes; 0 once it has ended.
  size_t resident_bytes() const;

  /// The largest value that `resident_bytes` has had.
  size_t peak_bytes() const;

  /// The CPU time that it has used.
  std::chrono::nanoseconds cpu_time() const;

  /// Waits for the end, reads all output, and returns the exit status; a
  /// negative number is the signal that killed it. Nothing when it did not end
  /// in time.
  std::optional<int> wait(std::chrono::seconds at_most);

  /// The output so far; complete after `wait`.
  const std::string& output() const noexcept { return output_; }

  /// Standard error so far. The program never waits until it is read.
  std::string errors() const;

private:
  bool pump(std::chrono::steady_clock::time_point until);

  pid_t id_ = -1;
  int output_fd_ = -1;
  int errors_fd_ = -1; ///< A file in memory.
  std::string output_;
  size_t line_ = 0; ///< Where the next line begins.
};

/// The result of a program that ran to its end.
struct finished {
  int status = 0;
  std::string output;
  std::string errors;
};

finished run_program(std::vector<std::string> arguments,
                     const std::vector<std::string>& variables = {});

} // namespace weir::tests
