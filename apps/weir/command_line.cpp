#include "apps/weir/command_tree.hpp"
#include "apps/weir/commands.hpp"
#include "base/log.hpp"
#include "base/nearest.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

namespace weir::apps {

namespace {

/// The innermost command that was given.
const CLI::App& called(const CLI::App& app) {
  const auto found = app.get_subcommands();
  return found.empty() ? app : called(*found.front());
}

/// All words that may follow `command`.
std::vector<std::string> words(const CLI::App& command) {
  std::vector<std::string> out;
  for (const auto* x : command.get_options())
    for (const auto& name : x->get_lnames())
      out.push_back("--" + name);
  for (const auto* x : command.get_subcommands([](const CLI::App*) {
         return true;
       }))
    out.push_back(x->get_name());
  return out;
}

/// What to do about an unknown word after `command`. A flag may belong after
/// another subcommand.
std::string advice(const CLI::App& command, const std::string& word) {
  for (const auto* x : all_commands(command))
    if (std::ranges::count(words(*x), word) > 0)
      return "; it belongs after the subcommand: " + path_of(*x) + " " + word;
  if (word.ends_with(".toml")
      && std::ranges::count(words(command), "--config") > 0)
    return "; a file of options is named by --config " + word;
  return suggestion(word, words(command));
}

/// Rewrites CLI11's message about an option that was given twice.
std::string in_words(const std::string& x) {
  const auto twice = x.find(": At Most 1 required but received ");
  return twice == std::string::npos
           ? x
           : x.substr(0, twice) + " is given more than once, and has one value";
}

int complain(const CLI::App& app, const CLI::ParseError& x) {
  const auto& command = called(app);
  const auto rest = app.remaining(true);
  const auto is_no_command
    = !rest.empty() && dynamic_cast<const CLI::RequiredError*>(&x) != nullptr
      && !rest.front().starts_with('-');
  auto text = "weir: "
              + (is_no_command ? '"' + rest.front() + "\" is no subcommand"
                               : in_words(x.what()));
  if (!rest.empty())
    text += advice(command, rest.front().substr(0, rest.front().find('=')));
  log::write_last_words(text + "\nRun with --help for more.\n");
  return refused;
}

/// Fails when the output of a command could not be written, for example to a
/// full disk. The output of `run` is only where it listens.
int check_output(const CLI::App& app, int status) {
  if (std::cout.flush() || called(app).get_name() == "run")
    return status;
  std::cerr
    << "weir: standard output could not be written: is its disk full?\n";
  return status == all_good ? failed : status;
}

} // namespace

void add_all_commands(CLI::App& app, int& status, command_adder demo) {
  app.description("Weir keeps a verified copy of any part of the AT Protocol "
                  "network and hands every change to applications.");
  app.name("weir");
  app.require_subcommand(1);
  add_run(app, status);
  demo(app, status);
  add_simnet(app, status);
  add_verify(app, status);
  add_backup(app, status);
  add_restore(app, status);
  add_adopt(app, status);
  add_export(app, status);
  add_import(app, status);
  add_operations(app, status);
  add_header(app, status);
  add_repos(app, status);
  add_config(app, status);
  add_manual(app, status);
  add_completion(app, status);
  add_version(app, status);
}

int run_command_line(int argc, const char* const* argv, command_adder demo) {
  CLI::App app;
  int status = all_good;
  add_all_commands(app, status, demo);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& x) {
    return app.exit(x); // --help
  } catch (const CLI::ParseError& x) {
    return complain(app, x);
  }
  return check_output(app, status);
}

} // namespace weir::apps
