#pragma once

#include <string_view>

namespace weir::actors {

/// The part of a client's socket that a CONSUMER needs. Any thread may call it.
class event_channel {
public:
  virtual ~event_channel() = default;

  /// Sends a message; false when the queue is full. No notice follows when
  /// there is room again, since the CONSUMER's window is smaller than the
  /// queue.
  virtual bool send(std::string_view text) = 0;

  /// Ends the connection without a close frame, so that the client reconnects.
  virtual void cut() = 0;
};

} // namespace weir::actors
