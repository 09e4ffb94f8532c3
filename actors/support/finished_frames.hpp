#pragma once

#include "actors/support/context.hpp"
#include "base/position.hpp"
#include "messages/frames.hpp"

#include <map>
#include <utility>
#include <vector>

namespace weir::actors {

/// Frames that are finished, by stream and epoch, until their UPSTREAMs hear of
/// them: one message a stream. Owned by one actor.
class finished_frames {
public:
  void add(const position& x) {
    by_stream_[{x.upstream, x.epoch}].push_back(x.seq);
  }

  /// Sends from `self`; empty afterwards. A stream that is gone is left out.
  template <class Self>
  void tell(Self* self, const context& shared) {
    for (auto& [stream, seqs] : std::exchange(by_stream_, {}))
      if (const auto to = shared.upstream(stream.first))
        self->send(to, frames_done{stream.second, std::move(seqs)});
  }

private:
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint64_t>> by_stream_;
};

} // namespace weir::actors
