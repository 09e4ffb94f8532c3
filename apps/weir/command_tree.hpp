#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

/// Reads a command line's commands and options, to describe them.
namespace weir::apps {

/// The commands directly below `app`, in the order in which they were added.
std::vector<const CLI::App*> subcommands_of(const CLI::App& app);

/// `app` and all commands below it, each before those below it.
std::vector<const CLI::App*> all_commands(const CLI::App& app);

/// The words of a command, such as "weir repos add".
std::string path_of(const CLI::App& app);

/// What stands for a value in help: "FILE", "ADDRESS:PORT", "signal|manual",
/// "N". Empty for a flag, which takes no value.
std::string value_of(const CLI::Option& x);

/// The range of a value, such as "1 to 1000"; empty when it has no bounds.
std::string bounds_of(const CLI::Option& x);

/// The words that a choice accepts; empty for any other option.
std::vector<std::string> choices_of(const CLI::Option& x);

} // namespace weir::apps
