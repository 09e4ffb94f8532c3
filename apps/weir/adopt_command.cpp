#include "apps/weir/adoption.hpp"
#include "apps/weir/commands.hpp"
#include "base/printable.hpp"

#include <CLI/CLI.hpp>

#include <iostream>

namespace weir::apps {

void add_adopt(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
    "adopt", "Take over a data directory that was put back from a backup: its "
             "next events get ids that no event had before");
  auto directory = std::make_shared<std::string>();
  command->add_option("DIR", *directory, "Data directory; no node may use it")
    ->required();
  command->callback([directory, &status] {
    const auto done = adopt_stores(*directory);
    if (done)
      std::cout << *done << std::endl;
    else
      std::cerr << "weir: cannot adopt: " << printable(done.error().context)
                << "\n";
    status = done ? all_good : refused;
  });
}

} // namespace weir::apps
