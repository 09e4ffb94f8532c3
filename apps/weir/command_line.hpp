#pragma once

#include "apps/weir/commands.hpp"

namespace weir::apps {

/// The whole program: parses, runs one subcommand and returns the exit status.
/// @param demo As of `add_all_commands`.
int run_command_line(int argc, const char* const* argv, command_adder demo);

} // namespace weir::apps
