#pragma once

#include "storage/log/stored_operation.hpp"

#include <utility>

namespace weir::storage {

/// Fills one page within its bounds. A reader asks `may_look` before each
/// operation and calls `pass` or `put` for it, and `ask` before each block.
class page_filler {
public:
  /// @param bounds Must outlive this.
  /// @param through What the page has when nothing was looked at.
  page_filler(const read_bounds& bounds, uint64_t through) noexcept
    : bounds_(bounds) {
    page_.through = through;
  }

  /// Fails when the call was cancelled.
  result<void> ask() const {
    if (bounds_.cancelled && bounds_.cancelled())
      return fail(ec::cancelled, "the reading of operations was cancelled");
    return {};
  }

  /// Whether the next operation may be looked at. If not, there is more.
  bool may_look() noexcept {
    page_.more = page_.found.size() >= bounds_.ops_max
                 || looked_ >= bounds_.looked_max
                 || bytes_ >= bounds_.bytes_max;
    return !page_.more;
  }

  /// An operation that does not fit.
  void pass(uint64_t place) noexcept {
    ++looked_;
    page_.through = place;
  }

  /// Adds an operation. When its body has no room, it is left for the next page
  /// and this one ends.
  bool put(uint64_t place, stored_operation x) {
    bytes_ += x.body.size();
    if (bytes_ > bounds_.bytes_max && !page_.found.empty()) {
      page_.more = true;
      return false;
    }
    pass(place);
    page_.found.push_back(std::move(x));
    return true;
  }

  operation_page take() { return std::move(page_); }

private:
  const read_bounds& bounds_;
  operation_page page_;
  size_t looked_ = 0;
  size_t bytes_ = 0;
};

} // namespace weir::storage
