#pragma once

#include "actors/repo/limits.hpp"
#include "base/clock.hpp"
#include "storage/format/records.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace weir::actors {

/// The document claims a handle that is not known to be the account's.
inline bool is_unconfirmed(const storage::identity_row& x) noexcept {
  return !x.claimed_handle.empty() && x.handle.empty() && !x.tombstoned;
}

/// Consumers were told of no handle yet, and it may still be confirmed.
inline bool awaits_handle(const storage::repo_row& row,
                          const storage::identity_row& x) noexcept {
  return row.handle.empty() && is_unconfirmed(x);
}

/// When an identity that was looked up is looked up once more, because the
/// answer may have been an old one: its handle could not be confirmed, or it
/// refuses what a newer key or host would prove. Whoever tells whose handle it
/// is may have been away, and a directory may lag behind; nothing announces
/// that this is over. The pause doubles, and after `limits::second_looks_max`
/// the answer stands. Answers that come before the pause is over, because
/// somebody else asked, are no tries: or each event that such a document
/// refuses would double it.
class identity_retry {
public:
  /// The last answer to a look-up.
  /// @param expected There is a reason to expect another answer.
  /// @param unsure It is not what is hoped for; else nothing more is to come.
  void hear(bool unsure, bool expected, steady_time now) noexcept {
    if (!unsure && !doubted_) {
      running_ = false;
      due_.reset();
      return;
    }
    if (due_ && now < *due_)
      return;
    if (!running_ && (expected || doubted_))
      begin();
    failed(now);
  }

  /// Something speaks against the document that is known.
  void expect(steady_time now) noexcept {
    doubted_ = true;
    if (due_)
      return;
    if (!running_)
      begin();
    failed(now);
  }

  /// The document changed, so nothing speaks against it any more.
  void settle() noexcept { doubted_ = false; }

  /// An event says that something may have changed.
  void begin() noexcept {
    running_ = true;
    tries_ = 0;
    due_.reset();
  }

  /// A further try is to come.
  bool waits() const noexcept { return due_.has_value(); }

  /// What the repo's row says of a look-up that is due stays there, so that the
  /// next life goes on. For a handle the first tries only, or a name that
  /// belongs to nobody would be looked up whenever its repo is loaded.
  bool outlives_crash() const noexcept {
    return running_ && (doubted_ || tries_ <= limits::second_looks_kept);
  }

  /// Something speaks against the document that is known.
  bool doubts() const noexcept { return doubted_; }

  /// A look-up ended without the answer that is hoped for.
  void failed(steady_time now) noexcept {
    if (!running_)
      return;
    running_ = tries_ < limits::second_looks_max;
    doubted_ = doubted_ && running_;
    if (running_)
      due_ = now + limits::second_look_pause * (1 << tries_++);
  }

  /// A look-up failed, which is no answer and so no try: it is made again after
  /// the pause that was the last one.
  void unanswered(steady_time now) noexcept {
    if (running_ && tries_ > 0)
      due_ = now + limits::second_look_pause * (1 << (tries_ - 1));
  }

  /// When the next try begins.
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
  bool doubted_ = false;
  uint32_t tries_ = 0;
  std::optional<steady_time> due_;
};

/// How often the directory said that an identity is gone. It may err for a
/// while, so what is held is erased when it said so twice, far enough apart and
/// nothing else between. The last word of an earlier life counts: it is in the
/// cache of documents.
class tombstone_words {
public:
  /// It did, and no document came since.
  bool said() const noexcept { return first_ != 0; }

  /// @param x The answer to a look-up, or what is known of one.
  /// @returns whether it said so twice.
  bool hear(const storage::identity_row& x,
            std::chrono::seconds grace) noexcept {
    if (!x.tombstoned) {
      first_ = 0;
      return false;
    }
    // A clock that was ahead may have been put right since.
    if (!said() || x.fetched_at < first_)
      first_ = std::max<int64_t>(x.fetched_at, 1);
    return x.fetched_at - first_ >= std::min(grace, longest).count();
  }

private:
  /// The last look decides.
  static constexpr std::chrono::seconds longest
    = limits::second_look_pause * (1 << (limits::second_looks_max - 1));

  int64_t first_ = 0; ///< Unix seconds.
};

} // namespace weir::actors
