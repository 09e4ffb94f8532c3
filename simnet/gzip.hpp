#pragma once

#include "base/bytes.hpp"

namespace weir::simnet {

/// `x` as one gzip member, compressed lightly, as busy servers do.
bytes gzip(bytes_view x);

} // namespace weir::simnet
