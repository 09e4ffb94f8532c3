#pragma once

#include "storage/tables/head_cursor.hpp"

#include <algorithm>
#include <deque>
#include <iterator>

namespace weir::apps {

/// Reads the heads of one repo one by one.
class head_reader {
public:
  explicit head_reader(storage::head_cursor from) : from_(std::move(from)) {}

  /// The next head, which is not removed; null at the end.
  result<const storage::head_entry*> peek() {
    if (page_.empty() && !over_) {
      auto more = from_.next();
      if (!more)
        return more.error();
      over_ = more->empty();
      std::move(more->begin(), more->end(), std::back_inserter(page_));
    }
    return page_.empty() ? nullptr : &page_.front();
  }

  void pop() { page_.pop_front(); }

private:
  storage::head_cursor from_;
  std::deque<storage::head_entry> page_;
  bool over_ = false;
};

} // namespace weir::apps
