#pragma once

#include "apps/weir/load_settings.hpp"

#include <string>

namespace weir::apps {

/// A whole configuration file: every option with its meaning, what it may be,
/// and its value in `x`. With the defaults this is conf/weir.toml.
std::string make_reference(const loaded_settings& x);

} // namespace weir::apps
