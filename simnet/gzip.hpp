#pragma once

#include "base/bytes.hpp"

namespace weir::simnet {

/// Compresses `x` as one gzip member at a fast level, as busy servers do.
bytes gzip(bytes_view x);

} // namespace weir::simnet
