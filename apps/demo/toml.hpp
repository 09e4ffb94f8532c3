#pragma once

#include <string_view>

namespace weir::apps {

/// The content of conf/demo.toml when the program was built.
extern const std::string_view demo_toml;

} // namespace weir::apps
