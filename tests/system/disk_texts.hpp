#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weir::tests {

/// Random letters and digits, enough of them that compression cannot hide the
/// text.
std::string unlikely_text(uint64_t seed);

/// The number of these texts, made by `unlikely_text`, that are in files of a
/// directory.
size_t texts_on_disk(const std::string& dir,
                     const std::vector<std::string>& texts);

} // namespace weir::tests
