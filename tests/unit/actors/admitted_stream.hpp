#pragma once

#include "actors/upstream/admission_machine.hpp"
#include "tests/unit/actors/upstream_stream.hpp"

namespace weir::tests {

inline upstream_options admitting(size_t frames, size_t bytes, size_t per_second) {
  upstream_options out;
  out.frames_max = frames;
  out.bytes_max = bytes;
  out.events_per_second = per_second;
  return out;
}

/// A stream with its admission, and the credit of its socket and the frames in
/// its node.
class admitted_stream {
public:
  admitted_stream(size_t frames_max, size_t bytes_max, size_t per_second = 0)
    : machine(flight, admitting(frames_max, bytes_max, per_second)) {
    machine.on_open();
  }

  /// Gives credit to the socket and adds it to what the socket has.
  size_t give(steady_time now = t0) {
    const auto x = machine.give(now);
    frames += x.frames;
    bytes += static_cast<int64_t>(x.bytes);
    return x.frames;
  }

  bool is_read() const { return frames > 0 && bytes > 0; }

  /// Reads a frame, which stays in the node until `finish`.
  void read(size_t size) {
    --frames;
    bytes -= static_cast<int64_t>(size);
    machine.on_frame(size);
    flight.add({1, static_cast<uint32_t>(size), ++seq, false, {}});
  }

  void finish(uint64_t of) {
    flight.finish(1, {of});
    while (flight.take_finished()) {
    }
  }

  /// Reads frames of this size, each of which is finished at once, until the
  /// socket is not read any more, ten thousand at most.
  size_t drain(size_t size, steady_time now) {
    size_t out = 0;
    for (; is_read() && out < 10'000; ++out) {
      read(size);
      finish(seq);
      give(now);
    }
    return out;
  }

  stream_flight flight{0};
  admission_machine machine;
  size_t frames = 0;
  int64_t bytes = 0;
  uint64_t seq = 0;
};

} // namespace weir::tests
