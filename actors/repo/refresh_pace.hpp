#pragma once

#include "actors/repo/limits.hpp"
#include "actors/repo/repo_types.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace weir::actors {

/// Whether the document claims a handle that is not confirmed.
inline bool is_unconfirmed(const storage::identity_row& x) noexcept {
  return !x.claimed_handle.empty() && x.handle.empty() && !x.tombstoned;
}

/// Whether consumers have no handle yet, and one may still be confirmed.
inline bool awaits_handle(const storage::repo_row& row,
                          const storage::identity_row& x) noexcept {
  return row.handle.empty() && is_unconfirmed(x);
}

/// Decides when an identity is looked up once more because the last answer may
/// be outdated: its handle could not be confirmed, or it refuses what a newer
/// key or host would prove. The server that confirms the handle may be down, or
/// the directory may lag behind, and nothing announces that this is over. The
/// pause doubles, and after `limits::second_looks_max` tries the answer stands.
/// An answer that arrives before the pause is over, because of another
/// question, is not counted as a try: otherwise each event that such a document
/// refuses would double the pause.
class identity_retry {
public:
  /// Processes the last answer to a look-up.
  /// @param expected There is a reason to expect another answer.
  /// @param unsure It is not the answer that was hoped for.
  void hear(bool unsure, bool expected, steady_time now) noexcept {
    if (!unsure && !disputed_) {
      running_ = false;
      due_.reset();
      return;
    }
    if (due_ && now < *due_)
      return;
    if (!running_ && (expected || disputed_))
      begin();
    failed(now);
  }

  /// There is evidence against the known document.
  void expect(steady_time now) noexcept {
    disputed_ = true;
    if (due_)
      return;
    if (!running_)
      begin();
    failed(now);
  }

  /// The document changed, so there is no evidence against it any more.
  void settle() noexcept { disputed_ = false; }

  /// An event says that the identity may have changed.
  void begin() noexcept {
    running_ = true;
    tries_ = 0;
    due_.reset();
  }

  /// Whether a further try follows.
  bool waits() const noexcept { return due_.has_value(); }

  /// Whether the next life continues. For a handle only during the first tries:
  /// else a name that belongs to nobody would be looked up with each load.
  bool outlives_crash() const noexcept {
    return running_ && (disputed_ || tries_ <= limits::second_looks_kept);
  }

  /// Whether there is evidence against the known document.
  bool has_evidence() const noexcept { return disputed_; }

  /// A look-up ended without the hoped-for answer.
  void failed(steady_time now) noexcept {
    if (!running_)
      return;
    running_ = tries_ < limits::second_looks_max;
    disputed_ = disputed_ && running_;
    if (running_)
      due_ = now + limits::second_look_pause * (1 << tries_++);
  }

  /// A failure is no answer and so no try: it is repeated after the same pause.
  void unanswered(steady_time now) noexcept {
    if (running_ && tries_ > 0)
      due_ = now + limits::second_look_pause * (1 << (tries_ - 1));
  }

  /// @returns when the next try begins.
  const std::optional<steady_time>& due() const noexcept { return due_; }

  /// @returns true once when that time has come.
  bool take(steady_time now) noexcept {
    if (!due_ || now < *due_)
      return false;
    due_.reset();
    return true;
  }

private:
  bool running_ = false;
  bool disputed_ = false;
  uint32_t tries_ = 0;
  std::optional<steady_time> due_;
};

/// Counts the answers of the directory that an identity is gone. The directory
/// may be wrong for a while, so the copy is erased only after two such answers,
/// far enough apart and without a document in between. The last answer of an
/// earlier life counts: it is in the cache of documents.
class tombstone_words {
public:
  /// Whether the directory reported it, and no document arrived since.
  bool said() const noexcept { return first_ != 0; }

  /// @param x The answer to a look-up, or the cached one.
  /// @returns whether this is the second such answer.
  bool hear(const storage::identity_row& x,
            std::chrono::seconds grace) noexcept {
    if (!x.tombstoned) {
      first_ = 0;
      return false;
    }
    // The stored time may come from a clock that was ahead.
    if (!said() || x.fetched_at < first_)
      first_ = std::max<int64_t>(x.fetched_at, 1);
    return x.fetched_at - first_ >= std::min(grace, longest).count();
  }

private:
  /// The pause before the last try: two answers that far apart always count.
  static constexpr std::chrono::seconds longest
    = limits::second_look_pause * (1 << (limits::second_looks_max - 1));

  int64_t first_ = 0; ///< Unix seconds.
};

/// Decides when a repo may have its identity looked up anew: at most
/// `limits::refresh_burst_max` times in an interval (protocol-coverage.md
/// 2.5.9), and after a failure not before a pause is over.
class refresh_pace {
public:
  bool may(steady_time now, std::chrono::seconds interval) const {
    return now >= not_before_
           && (times_.size() < limits::refresh_burst_max
               || now - times_.front() >= interval);
  }

  /// The time at which `may` holds again.
  steady_time due(std::chrono::seconds interval) const {
    auto out = not_before_;
    if (times_.size() >= limits::refresh_burst_max)
      out = std::max(out, times_.front() + interval);
    return out;
  }

  void spend(steady_time now) {
    wanted = false;
    times_.push_back(now);
    if (times_.size() > limits::refresh_burst_max)
      times_.pop_front();
  }

  /// The last look-up failed, so the known document may be an old one.
  bool failing() const noexcept { return failing_; }

  /// A newer document is wanted, or could not be fetched.
  bool open() const noexcept { return failing_ || wanted; }

  void failed(steady_time not_before) noexcept {
    failing_ = true;
    not_before_ = not_before;
  }

  void answered() noexcept {
    failing_ = false;
    not_before_ = {};
  }

  /// The upstream whose host pays for the look-up; 0: the account's own host.
  uint32_t cause() const noexcept { return cause_; }

  /// @returns whether the cause changed.
  bool set_cause(uint32_t upstream) noexcept {
    return std::exchange(cause_, upstream) != upstream;
  }

  bool wanted = false; ///< A look-up is to be made as soon as the pace allows.
  identity_retry retry;

private:
  lazy_deque<steady_time> times_;
  steady_time not_before_;
  bool failing_ = false;
  uint32_t cause_ = 0;
};

} // namespace weir::actors
