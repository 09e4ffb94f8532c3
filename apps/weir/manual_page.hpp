#pragma once

#include <string>

namespace CLI {
class App;
} // namespace CLI

/// Makes texts for people from the program's own command line and table of
/// options, so that they always agree with the program.
namespace weir::apps {

struct loaded_settings;

/// Makes weir(1) in roff: every command with its arguments and flags.
/// @param app The whole command line.
std::string make_program_manual(const CLI::App& app);

/// Makes weir.toml(5) in roff: every option with its meaning and default.
std::string make_config_manual();

/// Makes a script for bash that completes commands, flags, words of choices and
/// file names.
/// @param app The whole command line.
std::string make_bash_completion(const CLI::App& app);

/// Makes a whole configuration file: every option with its meaning, what it
/// accepts, and its value in `x`. With the defaults this is conf/weir.toml.
std::string make_reference(const loaded_settings& x);

} // namespace weir::apps
