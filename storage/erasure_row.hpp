#pragma once

#include "storage/records.hpp"

namespace weir::storage {

/// An erasing that is not over.
struct open_erasure {
  atproto::did repo;
  erasure_row row;
};

} // namespace weir::storage
