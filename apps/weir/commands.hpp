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
void add_version(CLI::App& app, int& status);

} // namespace weir::apps
