#pragma once

#include "actors/sweeper/limits.hpp"
#include "base/clock.hpp"
#include "storage/format/records.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace weir::actors {

struct sweeper_range {
  /// When its `first` is 0, the range is that of the commits that waited for
  /// the repos from `first` to `last` below, in the order of keys.
  storage::content_span content;
  atproto::did first;
  atproto::did last;
};

/// What SWEEPER has to do next: one of these, or wait for its timer.
struct sweeper_effects {
  bool scan = false; ///< Read the open erasings; answer with `on_scanned`.
  /// Ask the JOURNAL; answer with `on_stepped`.
  std::optional<atproto::did> step{};
  /// Answer with `on_compacted`, or `on_failed`.
  std::optional<sweeper_range> compact{};
  /// These erasings are over: the JOURNAL has to forget them.
  std::vector<storage::open_erasure> over{};
  std::optional<steady_time> timer{};
  bool trouble = false; ///< It failed and did not before, which is reported.
  bool well = false;    ///< It works again, which is reported.
};

/// The order of erasing: first the rows of all repos, step by step; then a
/// compaction of the ranges where they were, so that their bytes leave the
/// disk; and last their erasure rows. It begins with the node and whenever
/// something was erased.
///
/// # Limits
/// One step or compaction at a time. Beside other work of the JOURNAL there is
/// a pause after each step (`limits::sweep_pause`); compactions take a tenth of
/// the time at most (`limits::compaction_rest_factor`).
///
/// # Errors
/// A failed operation is retried after `limits::sweep_retry_min`, and then
/// after twice the last wait, up to `limits::sweep_retry_max`. So is a
/// compaction that left something because a reader still uses it.
class sweeper_machine {
public:
  /// An erasing has begun, or may have. Also call this once at the start.
  sweeper_effects on_erased() {
    // Erasings that only wait for their compaction do not delay a new one.
    if (doing_ == doing::nothing || doing_ == doing::resting)
      return scan();
    again_ = true;
    return {};
  }

  /// @param rows Open erasings. Those with rows to erase come first; at most
  ///        `limits::sweep_repos_max` of each kind.
  sweeper_effects on_scanned(std::vector<storage::open_erasure> rows,
                             steady_time now) {
    to_step_.clear();
    to_compact_.clear();
    for (auto& x : rows)
      if (x.row.stage != storage::erasure_stage::compact)
        to_step_.push_back(std::move(x.repo));
      else
        to_compact_.push_back(std::move(x));
    if (!to_step_.empty())
      return step();
    if (!to_compact_.empty() && now >= rest_until_)
      return begin_compaction(now);
    if (again_)
      return scan();
    if (to_compact_.empty()) {
      doing_ = doing::nothing;
      wait_ = {};
      return {.well = std::exchange(failed_, false)};
    }
    doing_ = doing::resting;
    return {.timer = rest_until_};
  }

  /// @param more The repo needs another step.
  /// @param busy The JOURNAL has other work.
  sweeper_effects on_stepped(bool more, bool busy, steady_time now) {
    if (!more)
      to_step_.pop_front();
    if (busy) {
      doing_ = doing::pausing;
      return {.timer = now + limits::sweep_pause};
    }
    return to_step_.empty() ? scan() : step();
  }

  sweeper_effects on_compacted(storage::compacted x, steady_time now) {
    left_ |= !x.gone;
    if (x.next != 0)
      ranges_.front().content.first = x.next;
    else
      ranges_.pop_front();
    if (ranges_.empty())
      return end_compaction(now);
    return {.compact = ranges_.front()};
  }

  sweeper_effects on_failed(steady_time now) {
    ranges_.clear();
    to_compact_.clear();
    doing_ = doing::failing;
    rest_until_ = retry(now);
    return {.timer = rest_until_, .trouble = !std::exchange(failed_, true)};
  }

  sweeper_effects on_timer(steady_time now) {
    if (doing_ == doing::pausing)
      return to_step_.empty() ? scan() : step();
    if ((doing_ == doing::resting || doing_ == doing::failing)
        && now >= rest_until_)
      return scan();
    return {};
  }

private:
  enum class doing : uint8_t { nothing, scanning, stepping, pausing, resting,
                               compacting, failing };

  sweeper_effects scan() {
    doing_ = doing::scanning;
    again_ = false;
    return {.scan = true};
  }

  sweeper_effects step() {
    doing_ = doing::stepping;
    return {.step = to_step_.front()};
  }

  sweeper_effects begin_compaction(steady_time now) {
    doing_ = doing::compacting;
    compacting_since_ = now;
    left_ = false;
    ranges_ = ranges_of(to_compact_);
    return {.compact = ranges_.front()};
  }

  /// All erasings of a scan end together; the next scan finds what is left.
  sweeper_effects end_compaction(steady_time now) {
    rest_until_
      = now + (now - compacting_since_) * limits::compaction_rest_factor;
    auto over = std::move(to_compact_);
    to_compact_.clear();
    auto out = scan();
    if (left_) {
      rest_until_ = std::max(rest_until_, retry(now));
      return out;
    }
    out.over = std::move(over);
    out.well = std::exchange(failed_, false);
    wait_ = {};
    return out;
  }

  steady_time retry(steady_time now) {
    wait_ = std::clamp<std::chrono::microseconds>(
      2 * wait_, limits::sweep_retry_min, limits::sweep_retry_max);
    return now + wait_;
  }

  /// A range that several erasings cover is compacted once.
  static std::deque<sweeper_range>
  ranges_of(const std::vector<storage::open_erasure>& rows) {
    std::vector<storage::content_span> content;
    for (const auto& x : rows)
      for (const auto& span : x.row.content)
        storage::add_span(content, span, limits::compaction_ranges_max);
    std::deque<sweeper_range> out;
    for (const auto& span : content)
      out.push_back({span, {}, {}});
    const auto together = (rows.size() - 1) / limits::compaction_ranges_max + 1;
    for (size_t i = 0; i < rows.size(); i += together)
      out.push_back(
        {{}, rows[i].repo, rows[std::min(i + together, rows.size()) - 1].repo});
    return out;
  }

  doing doing_ = doing::nothing;
  bool again_ = false; ///< Something was erased since the last scan.
  std::deque<atproto::did> to_step_;
  std::vector<storage::open_erasure> to_compact_;
  std::deque<sweeper_range> ranges_; ///< They are still to be compacted.
  bool left_ = false; ///< A part of this compaction is still on the disk.
  steady_time compacting_since_{};
  steady_time rest_until_{}; ///< No compaction begins before this time.
  /// The wait before the last retry; 0: none.
  std::chrono::microseconds wait_{0};
  bool failed_ = false; ///< The last scan or compaction failed.
};

} // namespace weir::actors
