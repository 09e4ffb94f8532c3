#pragma once

namespace weir::bench {

/// The whole program. Returns its exit status: 0 measured, 1 a workload failed,
/// 2 the command line makes no sense.
int run_command_line(int argc, const char* const* argv);

} // namespace weir::bench
