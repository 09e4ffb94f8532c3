#pragma once

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/limits.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace weir::actors {

struct listing_options {
  /// Audit of every upstream.
  std::chrono::seconds interval = limits::listing_interval_range.standard;
  std::chrono::seconds retry = limits::listing_retry;
  size_t pages_max = limits::listing_pages_max;
  size_t idle_pages_max = limits::listing_idle_pages_max;
};

/// Pages through `listRepos` of each upstream, one page at a time, again when
/// asked and by interval (protocol.md 9, reliability.md 2.1: endless listings).
class listing_machine {
public:
  struct request {
    uint32_t upstream = 0;
    std::string cursor; ///< Empty: from the beginning.
  };

  struct effects {
    std::optional<request> fetch;
    std::optional<steady_time> timer;
    bool finished = false;
  };

  explicit listing_machine(listing_options options) : options_(options) {
    // nop
  }

  /// List this upstream now; again afterwards when it is being listed.
  effects on_wanted(uint32_t upstream, steady_time now);

  /// @param fresh DIDs of the page that were not in the page before.
  effects on_page(uint32_t upstream, const result<std::string>& cursor,
                  size_t fresh, steady_time now);

  effects on_timer(steady_time now);

  uint64_t finished() const noexcept {
    return finished_;
  }

private:
  struct state {
    bool running = false;
    bool again = false;
    size_t pages = 0;
    size_t idle_pages = 0;
    std::string cursor;
    std::unordered_set<uint64_t> seen; ///< Hashes of cursors of this run.
    steady_time due;
  };

  effects begin(uint32_t upstream, state& x);
  effects finish(uint32_t upstream, state& x, std::chrono::seconds wait,
                 steady_time now);
  std::optional<steady_time> next_due() const;

  listing_options options_;
  std::unordered_map<uint32_t, state> listings_;
  uint64_t finished_ = 0;
};

} // namespace weir::actors
