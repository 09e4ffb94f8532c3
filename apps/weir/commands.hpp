#pragma once

namespace CLI {
class App;
} // namespace CLI

/// The subcommands of `weir`. Each adds itself to the command line; when it
/// was called, `status` is what the process ends with.
namespace weir::apps {

/// How the program ends.
enum exit_status : int {
  all_good = 0,
  failed = 1, ///< It ran, and the answer is no: damage, problems, a failure.
  refused = 2 ///< It could not start: bad flags, bad configuration, no store.
};

void add_run(CLI::App& app, int& status);
void add_demo(CLI::App& app, int& status);
void add_simnet(CLI::App& app, int& status);
void add_adopt(CLI::App& app, int& status);
void add_verify(CLI::App& app, int& status);
void add_repos(CLI::App& app, int& status);
void add_config(CLI::App& app, int& status);
void add_manual(CLI::App& app, int& status);
void add_completion(CLI::App& app, int& status);
void add_version(CLI::App& app, int& status);

/// Name, description and every command: the whole command line.
/// @pre `app` and `status` live while it parses.
void add_all_commands(CLI::App& app, int& status);

} // namespace weir::apps
