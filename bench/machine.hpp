#pragma once

#include <string>
#include <sys/types.h>

namespace weir::bench {

/// What a figure was measured on.
struct machine_facts {
  std::string processor;
  unsigned cores = 0;
  std::string extensions; ///< Of those that matter here: `avx2 sha_ni`.
};

machine_facts this_machine();

double steady_seconds();

/// Used by the calling thread.
double thread_cpu_seconds();

/// Used by this process.
double process_cpu_seconds();

/// Who used the processors, from one moment to another, in CPU seconds.
class cpu_meter {
public:
  /// Starts now.
  /// @param outside The process that stands for the network.
  explicit cpu_meter(pid_t outside);

  struct usage {
    double own = 0;
    double outside = 0;
    /// Of all cores, by everybody else; includes what the host took away. In
    /// percent.
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

/// Machines busier than this with other work do not count as quiet.
constexpr double others_percent_max = 5;

} // namespace weir::bench
