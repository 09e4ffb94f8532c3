#pragma once

#include <string>
#include <sys/types.h>

namespace weir::bench {

/// The machine of a measurement.
struct machine_facts {
  std::string processor;
  unsigned cores = 0;
  std::string extensions; ///< Those that matter here, such as `avx2 sha_ni`.
};

machine_facts this_machine();

double steady_seconds();

/// CPU time of the calling thread.
double thread_cpu_seconds();

/// CPU time of this process.
double process_cpu_seconds();

/// Measures who used the processors in a span of time, in CPU seconds.
class cpu_meter {
public:
  /// Begins to measure.
  /// @param outside The process of the network.
  explicit cpu_meter(pid_t outside);

  struct usage {
    double own = 0;
    double outside = 0;
    /// Percent of all cores that other processes used or the host took away.
    double others_percent = 0;
  };

  usage stop() const;

private:
  struct reading {
    double wall = 0;
    double own = 0;
    double outside = 0;
    double machine = 0;
  };

  reading read() const;

  pid_t outside_;
  reading start_;
};

/// A machine with more other work than this is not quiet.
constexpr double others_percent_max = 5;

} // namespace weir::bench
