#pragma once

#include <string>

namespace weir {

/// True when `path` exists and is not a regular file: a directory, a pipe or a
/// device. Opening one of those may block for ever. Symbolic links are
/// followed.
bool is_special_file(const std::string& path);

} // namespace weir
