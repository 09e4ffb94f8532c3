#pragma once

#include "actors/repo/repo_types.hpp"
#include "actors/support/account_sources.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace weir::actors {

/// Tells keys from each other; never 0.
inline uint64_t key_mark(const storage::identity_row& x) noexcept {
  return std::max<uint64_t>(atproto::stable_hash(x.signing_key), 1);
}

/// The directory says for the first time that an identity is gone which it knew
/// before. It may err, so this answer is no newer document to judge an event
/// by.
inline bool is_gone_in_doubt(const std::optional<storage::identity_row>& x,
                             const storage::repo_row& row) noexcept {
  return x && x->tombstoned && !row.words.tombstoned;
}

/// What a repo does not know while no document is there that is newer than the
/// frames it has to judge (protocol-coverage.md 2.5.6). A look-up that failed
/// is no answer, so a frame that the known document refuses may still be true.
///
/// - Frames that need the answer are kept in the sync buffer.
/// - What hosts say of the account is held here, the last #account of each
///   stream.
/// - That something was refused is remembered: a key or host that changes
///   afterwards says that it may have been true.
///
/// While a newer document is needed, the repo's row says `gap` and
/// `identity_due`, so that a crash leads to a look-up and a fetch; `refused_by`
/// says that something was refused.
class identity_doubt {
public:
  /// A newer document is needed.
  bool open() const noexcept { return open_; }

  /// Frames are kept in the sync buffer for it.
  bool keeping() const noexcept { return keeping_; }

  /// Something was decided that a document with another key or host undoes.
  bool regrets() const noexcept { return regrets_; }

  void begin() noexcept { open_ = true; }

  /// @param upstream By which the frame came.
  void keep_frames(uint32_t upstream) noexcept {
    if (!keeping_)
      from_ = upstream;
    open_ = keeping_ = true;
  }

  /// The stream of the first frame that is kept.
  uint32_t from() const noexcept { return from_; }

  /// The frames that were kept are gone: a fetch contains them, by the document
  /// that is known.
  void drop_frames() noexcept {
    regrets_ |= keeping_;
    keeping_ = false;
  }

  /// A frame was refused, or one was applied before those that are kept.
  void regret() noexcept { regrets_ = true; }

  /// What a host said of the account that the document does not name, or did
  /// not name lately. It replaces what the same stream said before.
  void hold(const account_sources::saying& word);

  /// What the stream of the account's host said last; all others stay.
  /// @param is_host Tells whether the upstream of that id is its host.
  template <class Predicate>
  std::optional<account_sources::saying> take_word(Predicate is_host) {
    std::optional<account_sources::saying> out;
    for (auto i = words_.begin(); i != words_.end();) {
      if (!is_host(i->at.upstream)) {
        ++i;
        continue;
      }
      out = *i;
      i = words_.erase(i);
    }
    return out;
  }

  /// This stream has said something later, which was heard.
  void forget_word(uint32_t upstream);

  /// No host can speak for the account.
  void forget_words() noexcept { words_.clear(); }

  // -- a fetch ----------------------------------------------------------------

  /// A fetch is asked for. It waits for the newer document, but not for another
  /// one after that: or whoever opens the doubt again and again could stop it.
  /// @returns false when it does not wait any more.
  bool put_off() noexcept {
    if (fetch_ == fetch_state::waited)
      return false;
    fetch_ = fetch_state::waits;
    return true;
  }

  /// @returns true when a fetch was put off, which waits no longer.
  bool resume() noexcept {
    if (fetch_ != fetch_state::waits)
      return false;
    fetch_ = fetch_state::waited;
    return true;
  }

  void begin_fetch() noexcept { fetch_ = fetch_state::none; }

  /// The newer document is there. What was refused stays remembered until one
  /// with another key or host comes.
  /// @returns whether frames were kept for it.
  bool close() noexcept {
    open_ = false;
    return std::exchange(keeping_, false);
  }

  /// All is to be fetched anew.
  void settle() noexcept { regrets_ = false; }

private:
  enum class fetch_state : uint8_t { none, waits, waited };

  bool open_ = false;
  bool keeping_ = false;
  bool regrets_ = false;
  fetch_state fetch_ = fetch_state::none;
  uint32_t from_ = 0;
  std::vector<account_sources::saying> words_; ///< Oldest first.
};

} // namespace weir::actors
