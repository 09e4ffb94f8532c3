#pragma once

#include <string>

namespace CLI {
class App;
} // namespace CLI

/// The manual pages, made from what the program itself goes by: its command
/// line and its table of options. They cannot say anything else than it does.
namespace weir::apps {

/// weir(1), in roff: every command with its arguments and flags.
/// @param app The whole command line.
std::string make_program_manual(const CLI::App& app);

/// weir.toml(5), in roff: every option with its meaning and default.
std::string make_config_manual();

} // namespace weir::apps
