#pragma once

#include "apps/weir/load_settings.hpp"

#include <string>
#include <vector>

namespace weir::actors {
class node;
} // namespace weir::actors

namespace weir::apps {

/// What changes in a running node when its settings are read again.
struct reload_plan {
  /// Errors, one sentence each. When there is one, nothing changes.
  std::vector<std::string> problems;
  bool log = false;      ///< Level or layout changes.
  bool password = false; ///< The content of its file changes.
  /// Options with other values, which only a restart applies.
  std::vector<std::string> at_restart;
};

/// @param running The settings that the node has now.
reload_plan plan_reload(const settings& running, const loaded_settings& anew);

/// The settings of a node, which SIGHUP reads again from their sources.
class running_settings {
public:
  running_settings(flag_values flags, settings loaded);

  /// The settings for the next start. Reloads change them, and their user may,
  /// too.
  settings& values() noexcept { return values_; }

  /// Reads file, environment and password file again and applies what can be
  /// applied. The log says what, or what is wrong.
  /// @param to Null while no node runs.
  void reload(actors::node* to);

private:
  flag_values flags_;
  settings loaded_; ///< The settings as they were read.
  settings values_;
};

} // namespace weir::apps
