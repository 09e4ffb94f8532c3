#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weir::tests {

/// Letters and digits, so many and so mixed that no compression hides them.
std::string unlikely_text(uint64_t seed);

/// How many of these texts, each of them an unlikely one, are in files of a directory.
size_t texts_on_disk(const std::string& dir,
                     const std::vector<std::string>& texts);

} // namespace weir::tests
