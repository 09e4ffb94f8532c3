#pragma once

#include "base/error.hpp"

#include <string>

namespace weir::apps {

/// Begins an epoch of ids in a data directory that was put back from a copy
/// (ADR 14).
/// @returns a sentence that says which ids events have from now on, and the
/// name of the epoch; `ec::not_found` without a store
result<std::string> adopt_stores(const std::string& data_dir);

} // namespace weir::apps
