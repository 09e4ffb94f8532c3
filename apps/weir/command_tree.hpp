#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

/// How a command line is walked by what describes it.
namespace weir::apps {

/// The commands directly below, in the order in which they were added.
std::vector<const CLI::App*> subcommands_of(const CLI::App& app);

/// Itself and all below it, each before those below it.
std::vector<const CLI::App*> all_commands(const CLI::App& app);

/// "weir repos add".
std::string path_of(const CLI::App& app);

/// What stands for a value: "FILE", "ADDRESS:PORT", "signal|manual", "N".
/// Empty for a flag, which takes none.
std::string value_of(const CLI::Option& x);

/// From where to where a value must lie, "1 to 1000"; empty when it is not
/// bounded.
std::string bounds_of(const CLI::Option& x);

/// The words of a choice; empty when the value is none.
std::vector<std::string> choices_of(const CLI::Option& x);

} // namespace weir::apps
