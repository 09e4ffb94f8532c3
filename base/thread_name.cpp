#include "base/thread_name.hpp"

#include <sys/prctl.h>

namespace weir {

void name_thread(const char* name) noexcept {
  prctl(PR_SET_NAME, name, 0, 0, 0);
}

} // namespace weir
