#include "base/special_file.hpp"

#include <sys/stat.h>

namespace weir {

bool is_special_file(const std::string& path) {
  struct stat x {};
  return ::stat(path.c_str(), &x) == 0 && !S_ISREG(x.st_mode);
}

} // namespace weir
