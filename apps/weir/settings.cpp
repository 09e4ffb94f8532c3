#include "apps/weir/settings.hpp"

#include <unistd.h>

namespace weir::apps {

void configure_log(const settings& x) {
  const bool text
    = x.log_format == log_layout::text
      || (x.log_format == log_layout::automatic && isatty(STDERR_FILENO) == 1);
  log::configure(x.log_level, text ? log::format::text : log::format::json);
}

} // namespace weir::apps
