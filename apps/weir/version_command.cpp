#include "apps/weir/commands.hpp"
#include "base/version.hpp"

#include <CLI/CLI.hpp>

#include <iostream>

namespace weir::apps {

void add_version(CLI::App& app, int& status) {
  app.add_subcommand("version", "Print the version")->callback([&status] {
    std::cout << "weir " << version() << "\n";
    status = all_good;
  });
}

} // namespace weir::apps
