#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"

#include <memory>
#include <span>

namespace weir::net {

/// Inflates one gzip member, a bounded piece at a time.
class inflater {
public:
  inflater();
  ~inflater();

  inflater(const inflater&) = delete;
  inflater& operator=(const inflater&) = delete;

  struct step {
    size_t used = 0; ///< Bytes taken from the input.
    size_t made = 0; ///< Bytes put into the output.
  };

  /// Inflates until the input is used up, the output is full, or the member
  /// ends. Error: `ec::malformed` for no gzip, and for bytes behind its end.
  result<step> run(bytes_view input, std::span<uint8_t> output);

  /// Whether the whole member was read and its checksum holds.
  bool done() const noexcept { return done_; }

private:
  struct state;
  std::unique_ptr<state> state_;
  bool done_ = false;
};

} // namespace weir::net
