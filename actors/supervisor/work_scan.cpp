#include "actors/supervisor/work_scan.hpp"

#include "actors/supervisor/limits.hpp"
#include "storage/format/limits.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

std::chrono::seconds wait_of(int64_t due, wall_time now,
                             std::chrono::seconds longest) noexcept {
  const auto seconds = now.seconds();
  if (due <= seconds || due - seconds > longest.count())
    return std::chrono::seconds{0};
  return std::chrono::seconds{due - seconds};
}

void work_scan::begin() noexcept {
  wanted_ = true;
  quiet_ = true;
}

void work_scan::left_out_now(steady_time now) noexcept {
  if (wanted_)
    again_ = true;
  else
    begin();
  written_ = now + limits::scan_again_after;
}

void work_scan::left_out(steady_time due, bool quiet) noexcept {
  if (!later_ || due < *later_)
    later_ = due;
  later_quiet_ |= quiet;
}

void work_scan::on_timer(steady_time now) noexcept {
  const auto is_due = [now](auto& x) {
    const auto out = x && now >= *x;
    if (out)
      x.reset();
    return out;
  };
  const auto later = is_due(later_);
  if (!is_due(written_) && !later)
    return;
  if (wanted_)
    again_ = true; // Such a lap looks for quiet work.
  else
    quiet_ = later && later_quiet_;
  wanted_ = true;
  later_quiet_ &= !later;
}

std::optional<work_scan::request> work_scan::next(size_t held,
                                                  size_t queue_max) {
  if (held >= queue_max)
    filling_ = false;
  else if (held <= queue_max / 2)
    filling_ = true;
  if (!wanted_ || reading_ || !filling_)
    return std::nullopt;
  reading_ = true;
  return request{place_, std::min(limits::repos_page_max, queue_max - held),
                 quiet_};
}

void work_scan::on_page(std::string next, bool end) {
  reading_ = false;
  place_ = end ? std::string{} : std::move(next);
  if (!end)
    return;
  wanted_ = std::exchange(again_, false);
  quiet_ = wanted_;
}

} // namespace weir::actors
