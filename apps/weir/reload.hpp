#pragma once

#include "apps/weir/load_settings.hpp"

#include <string>
#include <vector>

namespace weir::actors {
class node;
} // namespace weir::actors

namespace weir::apps {

/// What settings that were read anew change in a running node.
struct reload_plan {
  /// Nothing is taken over: one sentence for each that is wrong.
  std::vector<std::string> problems;
  bool log = false;      ///< Level or layout.
  bool password = false; ///< The content of its file.
  /// Options with other values, which only a restart takes over.
  std::vector<std::string> at_restart;
};

/// @param running What the node was started with, or took over since.
reload_plan plan_reload(const settings& running, const loaded_settings& anew);

/// The settings of a node, read again at SIGHUP from where they came from.
class running_settings {
public:
  running_settings(flag_values flags, settings loaded);

  /// Of the next start: reloads change it, and its user may.
  settings& values() noexcept { return values_; }

  /// Reads file, environment and password file again and takes over what can
  /// be; the log says what, or what is wrong.
  /// @param to Null while none runs.
  void reload(actors::node* to);

private:
  flag_values flags_;
  settings loaded_; ///< As they were read.
  settings values_;
};

} // namespace weir::apps
