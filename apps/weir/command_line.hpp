#pragma once

namespace weir::apps {

/// The whole program: parses, runs one subcommand and returns the exit status.
int run_command_line(int argc, const char* const* argv);

} // namespace weir::apps
