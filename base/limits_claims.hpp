#pragma once

#include <cstddef>

/// What only a listing claims (actors/supervisor/claims_machine.hpp).
namespace weir::limits {

/// Claims beyond `claims_of_page_max` of their pages, of all listings together.
constexpr size_t claims_spare_max = 65'536;

} // namespace weir::limits
