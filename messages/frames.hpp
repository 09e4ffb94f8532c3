#pragma once

#include "atproto/stamped_frame.hpp"
#include "base/limits.hpp"
#include "messages/fwd.hpp"

#include <caf/detail/stringification_inspector.hpp>
#include <caf/error.hpp>
#include <caf/meta/type_name.hpp>

#include <chrono>
#include <optional>
#include <vector>

namespace weir {

/// The frames of one socket read for one ROUTER shard, in order.
///
/// From: UPSTREAM. To: ROUTER. Travels: between nodes.
struct frame_batch {
  std::vector<atproto::stamped_frame> frames;
};

/// Frames of one DID, in order.
///
/// From: ROUTER. To: REPO. Travels: local only.
struct repo_frames {
  std::vector<atproto::stamped_frame> frames;
};

/// These frames are finished: durable, or dropped by a rule. From: JOURNAL,
/// REPO, ROUTER. To: UPSTREAM. Travels: between nodes.
struct frames_done {
  uint32_t epoch = 0;
  std::vector<uint64_t> seqs;
  /// How many frames of the stream failed verification since the last message.
  /// They need not be among `seqs`.
  uint32_t refused = 0;
};

/// Frames were lost, because a REPO died; the stream must be read again. From:
/// ROUTER. To: UPSTREAM. Travels: between nodes.
struct frames_lost {};

/// The socket is open. `connection` counts the attempts to connect, so that
/// late messages of an earlier connection can be dropped.
///
/// From: the socket's bridge. To: UPSTREAM. Travels: local only.
struct stream_opened {
  uint64_t connection = 0;
};

/// The frames of one socket read. From: the socket's bridge. To: UPSTREAM.
/// Travels: local only.
struct stream_frames {
  uint64_t connection = 0;
  std::vector<shared_bytes> frames;
};

/// The connection has ended. From: the socket's bridge. To: UPSTREAM. Travels:
/// local only.
struct stream_closed {
  uint64_t connection = 0;
  error reason;
  int http_status = 0;
  std::chrono::seconds retry_after{0};
};

/// A timer fired. `generation` distinguishes old timers from the current one.
///
/// From: the actor itself. Travels: local only.
struct tick {
  uint64_t generation = 0;
};

/// Orders the actor to end properly.
///
/// From: NODE. Travels: local only.
struct stop_actor {};

} // namespace weir

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::repo_frames)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::stream_opened)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::stream_frames)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::stream_closed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::tick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::stop_actor)

namespace weir {

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, position& x) {
  return f(caf::meta::type_name("position"), x.upstream, x.epoch, x.seq);
}

/// Reads or writes the length and then the raw bytes. A length above the limit
/// of a frame is refused before memory is allocated.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, shared_bytes& x) {
  if constexpr (std::is_same_v<Inspector,
                               caf::detail::stringification_inspector>) {
    auto size = static_cast<uint64_t>(x.size());
    return f(caf::meta::type_name("shared_bytes"), size);
  } else if constexpr (Inspector::reads_state) {
    auto size = x.size();
    if (auto bad = f.begin_sequence(size))
      return bad;
    if (size > 0)
      if (auto bad = f.apply_raw(size, const_cast<uint8_t*>(x.data())))
        return bad;
    return f.end_sequence();
  } else {
    size_t size = 0;
    if (auto bad = f.begin_sequence(size))
      return bad;
    if (size > limits::frame_bytes_max)
      return caf::make_error(caf::sec::invalid_argument, "frame too large");
    bytes data(size);
    if (size > 0)
      if (auto bad = f.apply_raw(size, data.data()))
        return bad;
    x = shared_bytes{std::move(data)};
    return f.end_sequence();
  }
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, frames_done& x) {
  return f(caf::meta::type_name("frames_done"), x.epoch, x.seqs, x.refused);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, frames_lost&) {
  return f(caf::meta::type_name("frames_lost"));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, frame_batch& x) {
  return f(caf::meta::type_name("frame_batch"), x.frames);
}

} // namespace weir

namespace weir::atproto {

/// A DID that cannot be parsed becomes the empty one, which is not routed.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, stamped_frame& x) {
  auto repo = x.repo.str();
  auto kind = static_cast<uint8_t>(x.kind);
  if constexpr (std::is_same_v<Inspector,
                               caf::detail::stringification_inspector>) {
    return f(caf::meta::type_name("stamped_frame"), x.at, kind, repo, x.bytes);
  } else {
    auto bad = f(caf::meta::type_name("stamped_frame"), x.at, x.first_cursor,
                 x.relay, kind, repo, x.bytes);
    if constexpr (Inspector::writes_state) {
      auto parsed = did::parse(repo);
      x.repo = parsed ? std::move(*parsed) : did{};
      x.kind = kind > static_cast<uint8_t>(frame_kind::unknown)
                 ? frame_kind::unknown
                 : static_cast<frame_kind>(kind);
    }
    return bad;
  }
}

} // namespace weir::atproto
