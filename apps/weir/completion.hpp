#pragma once

#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace weir::apps {

/// Makes a script for bash that completes commands, flags, words of choices and
/// file names.
/// @param app The whole command line.
std::string make_bash_completion(const CLI::App& app);

} // namespace weir::apps
