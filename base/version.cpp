#include "base/version.hpp"

namespace weir {

const char* version() noexcept {
  return WEIR_VERSION;
}

} // namespace weir
