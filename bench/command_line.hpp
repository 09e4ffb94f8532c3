#pragma once

namespace weir::bench {

/// The whole program. Returns its exit status: 0 when all was measured, 1 when
/// a workload failed, 2 when the command line is wrong.
int run_command_line(int argc, const char* const* argv);

} // namespace weir::bench
