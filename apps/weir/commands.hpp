#pragma once

namespace CLI {
class App;
} // namespace CLI

/// The subcommands of `weir`. Each function adds one to the command line. After
/// the command ran, `status` is the exit status of the process.
namespace weir::apps {

/// The exit statuses of the program.
enum exit_status : int {
  all_good = 0,
  failed = 1, ///< It ran and found damage or problems, or failed.
  refused = 2 ///< It could not start: flags, configuration or store.
};

void add_run(CLI::App& app, int& status);
void add_simnet(CLI::App& app, int& status);
void add_adopt(CLI::App& app, int& status);
void add_backup(CLI::App& app, int& status);
void add_restore(CLI::App& app, int& status);
void add_verify(CLI::App& app, int& status);
void add_export(CLI::App& app, int& status);
void add_import(CLI::App& app, int& status);
void add_operations(CLI::App& app, int& status);
void add_header(CLI::App& app, int& status);
void add_repos(CLI::App& app, int& status);
void add_config(CLI::App& app, int& status);
void add_manual(CLI::App& app, int& status);
void add_completion(CLI::App& app, int& status);
void add_version(CLI::App& app, int& status);

/// Adds one command.
using command_adder = void (*)(CLI::App& app, int& status);

/// Adds the name, the description and every command.
/// @param demo Adds the command that has a folder of its own.
/// @pre `app` and `status` live while it parses.
void add_all_commands(CLI::App& app, int& status, command_adder demo);

/// The whole program: parses, runs one subcommand and returns the exit status.
/// @param demo As for `add_all_commands`.
int run_command_line(int argc, const char* const* argv, command_adder demo);

} // namespace weir::apps
