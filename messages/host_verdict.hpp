#pragma once

#include <cstdint>

namespace weir {

/// What a fetch says about the host that it asked. The repo is judged apart: a
/// host that answers well may say that the account is gone.
enum class host_verdict : uint8_t {
  fine,
  failed,
  rate_limited, ///< It asked for time, which is no failure.
  silent,       ///< It failed without any answer.
};

} // namespace weir
