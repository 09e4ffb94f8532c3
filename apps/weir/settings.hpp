#pragma once

#include "actors/node/node_config.hpp"
#include "base/log.hpp"

#include <cstdint>
#include <string>

namespace weir::apps {

enum class log_layout : uint8_t { automatic, text, json };

/// All settings of `weir run`: the node's configuration, and what only the
/// program needs. The defaults are those of conf/weir.toml.
struct settings : actors::node_config {
  /// The content of this file becomes `admin_password`.
  std::string admin_password_file;
  log::level log_level = log::level::info;
  log_layout log_format = log_layout::automatic;
};

/// Sets level and layout of the log. `automatic` is text on a terminal and JSON
/// elsewhere.
void configure_log(const settings& x);

} // namespace weir::apps
