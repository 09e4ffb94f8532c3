#pragma once

#include "apps/weir/load_settings.hpp"

#include <string>

namespace weir::apps {

/// Makes a whole configuration file: every option with its meaning, what it
/// accepts, and its value in `x`. With the defaults this is conf/weir.toml.
std::string make_reference(const loaded_settings& x);

} // namespace weir::apps
