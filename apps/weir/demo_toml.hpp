#pragma once

#include <string_view>

namespace weir::apps {

/// conf/demo.toml, as it was when the program was built.
extern const std::string_view demo_toml;

} // namespace weir::apps
