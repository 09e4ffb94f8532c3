#pragma once

#include "atproto/stamped_frame.hpp"
#include "base/error.hpp"

#include <chrono>
#include <vector>

namespace weir {

/// The frames of one socket read for one ROUTER shard, in order.
/// From: UPSTREAM. To: ROUTER. Travels: between nodes.
struct frame_batch {
  std::vector<atproto::stamped_frame> frames;
};

/// Frames of one DID, in order. From: ROUTER. To: REPO.
struct repo_frames {
  std::vector<atproto::stamped_frame> frames;
};

/// These frames are finished: durable, or dropped by a rule.
/// From: JOURNAL, REPO, ROUTER. To: UPSTREAM. Travels: between nodes.
struct frames_done {
  uint32_t epoch = 0;
  std::vector<uint64_t> seqs;
  /// How many frames of the stream failed verification since the last message.
  /// They need not be among `seqs`.
  uint32_t refused = 0;
};

/// Frames were lost, because a REPO died; the stream must be read again.
/// From: ROUTER. To: UPSTREAM. Travels: between nodes.
struct frames_lost {};

/// The socket is open. `connection` counts the attempts to connect, so that
/// late messages of an earlier connection can be dropped.
/// From: the socket's bridge. To: UPSTREAM.
struct stream_opened {
  uint64_t connection = 0;
};

/// The frames of one socket read. From: the socket's bridge. To: UPSTREAM.
struct stream_frames {
  uint64_t connection = 0;
  std::vector<shared_bytes> frames;
};

/// The connection has ended. From: the socket's bridge. To: UPSTREAM.
struct stream_closed {
  uint64_t connection = 0;
  error reason;
  int http_status = 0;
  std::chrono::seconds retry_after{0};
};

/// A timer fired. `generation` distinguishes old timers from the current one.
/// From: the actor itself.
struct tick {
  uint64_t generation = 0;
};

/// Orders the actor to end properly. From: NODE.
struct stop_actor {};

} // namespace weir
