#include "apps/weir/commands.hpp"
#include "apps/weir/load_settings.hpp"
#include "apps/weir/manual_page.hpp"
#include "apps/weir/option_flags.hpp"
#include "net/tls.hpp"

#include <CLI/CLI.hpp>

#include <iostream>

namespace weir::apps {

namespace {

/// Checks the file alone, without the environment. It reads everything else
/// that a node would read at its start, too.
int check(const std::string& file) {
  flag_values flags;
  flags.config = file;
  auto loaded = load_settings(flags, {});
  if (const auto tls = net::tls_client::make({loaded.values.ca_file}); !tls)
    loaded.problems.push_back(tls.error().context);
  for (const auto& x : loaded.problems)
    std::cerr << x << "\n";
  if (!loaded.problems.empty())
    return failed;
  std::cout << file << ": good, " << loaded.origins.size() << " of "
            << all_options().size() << " options set\n";
  return all_good;
}

int print(const option_flags& flags) {
  const auto loaded = load_settings(flags.values(), process_environment());
  for (const auto& x : loaded.problems)
    std::cerr << x << "\n";
  // A file with only the valid part would look complete.
  if (!loaded.problems.empty())
    return failed;
  for (const auto& x : sentences_of(loaded.others))
    std::cerr << x << "\n";
  std::cout << make_reference(loaded);
  return all_good;
}

} // namespace

void add_config(CLI::App& app, int& status) {
  auto* command = app.add_subcommand("config", "Look at configurations");
  command->require_subcommand(1);
  auto* checker = command->add_subcommand(
    "check", "Report everything that is wrong with a file");
  auto file = std::make_shared<std::string>();
  checker->add_option("FILE,--config", *file, "A configuration file")
    ->type_name("FILE");
  checker->callback([file, &status] {
    if (file->empty())
      std::cerr << "weir: name the file: weir config check FILE\n";
    status = file->empty() ? refused : check(*file);
  });
  auto* printer = command->add_subcommand(
    "print", "Print every option with its value, and where that comes from");
  auto flags = std::make_shared<option_flags>(*printer, "FILE,--config");
  printer->callback([flags, &status] {
    status = print(*flags);
  });
}

} // namespace weir::apps
