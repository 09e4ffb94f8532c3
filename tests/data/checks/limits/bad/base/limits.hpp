#pragma once

namespace weir::limits {

constexpr size_t one_folder_max = 8;

} // namespace weir::limits
