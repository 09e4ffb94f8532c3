#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

namespace weir::actors {

/// Commands wake REPOs, and one command may name a great many: so many are at
/// work at once, fewer while REPOs that were asked to close have not ended. The
/// others wait, and none overtakes another. Without CAF or clock; one thread.
template <class Work>
class command_gate {
public:
  /// @param resident_max REPOs that the shard keeps alive.
  explicit command_gate(size_t resident_max)
    : at_work_max_(std::max<size_t>(resident_max / 2, 1)),
      crowded_from_(resident_max + at_work_max_) {
    // nop
  }

  void add(Work x) { waiting_.push_back(std::move(x)); }

  /// The next one that may begin. One always may, however many REPOs there are.
  /// @param residents REPOs alive, those that are closing included.
  std::optional<Work> next(size_t residents) {
    const auto most = residents >= crowded_from_ ? size_t{1} : at_work_max_;
    if (waiting_.empty() || at_work_ >= most)
      return std::nullopt;
    auto out = std::move(waiting_.front());
    waiting_.pop_front();
    ++at_work_;
    return out;
  }

  /// One was answered.
  void done() noexcept { --at_work_; }

  void clear() { waiting_.clear(); }

private:
  size_t at_work_max_;
  size_t crowded_from_;
  size_t at_work_ = 0;
  std::deque<Work> waiting_;
};

} // namespace weir::actors
