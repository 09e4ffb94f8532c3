#pragma once

#include <string>

namespace weir {

/// Whether something lies at `path` that is no regular file: a directory, or a
/// pipe or a device, for which a program that opens it may wait for ever. Links
/// are followed.
bool is_special_file(const std::string& path);

} // namespace weir
