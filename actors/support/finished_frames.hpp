#pragma once

#include "actors/support/context.hpp"
#include "base/position.hpp"
#include "messages/frames.hpp"

#include <map>
#include <utility>

namespace weir::actors {

/// Finished frames, by stream and epoch, until they are reported to their
/// UPSTREAMs with one message for each stream. Owned by one actor.
class finished_frames {
public:
  void add(const position& x) {
    by_stream_[{x.upstream, x.epoch}].seqs.push_back(x.seq);
  }

  /// Counts a frame that failed verification; `add` reports when it is
  /// finished.
  void refuse(const position& x) {
    ++by_stream_[{x.upstream, x.epoch}].refused;
  }

  /// Sends the messages from `self`; empty afterwards. A stream that no longer
  /// exists is left out.
  template <class Self>
  void tell(Self* self, const context& shared) {
    for (auto& [stream, news] : std::exchange(by_stream_, {})) {
      news.epoch = stream.second;
      if (const auto to = shared.upstream(stream.first))
        self->send(to, std::move(news));
    }
  }

private:
  std::map<std::pair<uint32_t, uint32_t>, frames_done> by_stream_;
};

} // namespace weir::actors
