#pragma once

namespace CLI {
class App;
} // namespace CLI

namespace weir::apps {

/// The command `weir demo`, as commands.hpp has the others.
void add_demo(CLI::App& app, int& status);

} // namespace weir::apps
