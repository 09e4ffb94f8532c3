#pragma once

#include "base/clock.hpp"
#include "tests/support/repo_builder.hpp"

namespace weir::tests {

/// A repo whose revs are the time of day, as those of a real host. A node that
/// uses the machine's clock considers a stream whose frames have old revs to be
/// far behind, and every listing waits for such a stream
/// (actors/upstream/stream_arrivals.hpp). So only tests about lateness send
/// frames of a `test_repo` without a clock. A repo that is only named in a
/// listing may have any rev, since no frame has it.
class live_repo : public test_repo {
public:
  explicit live_repo(uint64_t seed = 1,
                     atproto::curve which = atproto::curve::k256)
    : test_repo(seed, which, &system_clock()) {
    // nop
  }
};

/// The field `time` of a frame that is made now.
inline std::string frame_time_of_now() {
  return frame_time_of(system_clock().wall_now());
}

} // namespace weir::tests
