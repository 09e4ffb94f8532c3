#pragma once

#include "tests/unit/storage/damage.hpp"
#include "tests/unit/storage/full_store.hpp"

namespace weir::tests {

/// Whether nothing in the store can show this damage (storage-format.md 6).
bool is_excused(const full_store& store, const storage::damage& x);

} // namespace weir::tests
