#include "apps/weir/commands.hpp"
#include "apps/weir/manual_page.hpp"
#include "base/version.hpp"

#include <CLI/CLI.hpp>

#include <iostream>

namespace weir::apps {

namespace {

/// Adds an argument that must be one of these words, separated by `|`.
CLI::Option* add_choice(CLI::App& command, const char* name, std::string& to,
                        const std::string& words, const char* meaning) {
  return command.add_option(name, to, meaning)
    ->type_name(words)
    ->check([words](const std::string& x) {
      return ("|" + words + "|").find("|" + x + "|") != std::string::npos
               ? std::string{}
               : "must be one of " + words;
    });
}

} // namespace

void add_manual(CLI::App& app, int& status) {
  auto* command
    = app.add_subcommand("manual", "Print a manual page, for man -l - to show");
  auto page = std::make_shared<std::string>("weir");
  add_choice(*command, "PAGE", *page, "weir|weir.toml",
             "Which: that of the program, or that of its configuration")
    ->capture_default_str();
  command->callback([page, &app, &status] {
    std::cout << (*page == "weir" ? make_program_manual(app)
                                  : make_config_manual());
    status = all_good;
  });
}

void add_completion(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
    "completion", "Print a script that completes commands and flags");
  auto shell = std::make_shared<std::string>();
  add_choice(*command, "SHELL", *shell, "bash", "For which shell")->required();
  command->callback([&app, &status] {
    std::cout << make_bash_completion(app);
    status = all_good;
  });
}

void add_version(CLI::App& app, int& status) {
  app.add_subcommand("version", "Print the version")->callback([&status] {
    std::cout << "weir " << version() << "\n";
    status = all_good;
  });
}

} // namespace weir::apps
