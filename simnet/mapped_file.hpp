#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"

#include <string>

namespace weir::simnet {

/// Maps a whole file with mmap. It takes address space, and memory only for the
/// pages that are read.
///
/// # Ownership and threads
/// The returned bytes keep the mapping; any thread may read them. Errors:
/// `not_found`, and `storage_failure`, which includes anything that is no
/// regular file.
result<shared_bytes> map_file(const std::string& path);

} // namespace weir::simnet
