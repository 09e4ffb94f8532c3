#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"

#include <memory>
#include <string>

namespace weir::simnet {

/// A whole file in memory, by mmap: costs address space, and memory only for
/// what is read.
///
/// # Ownership and threads
/// `map_file` returns bytes that keep the mapping; any thread may read them.
/// Errors: `not_found`, `storage_failure`; so is what is no regular file.
result<shared_bytes> map_file(const std::string& path);

} // namespace weir::simnet
