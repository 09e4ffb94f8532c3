#pragma once

#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace weir::apps {

/// A script for bash that completes commands, flags, words of choices and
/// names of files of this command line.
/// @param app The whole command line.
std::string make_bash_completion(const CLI::App& app);

} // namespace weir::apps
