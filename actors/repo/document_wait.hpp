#pragma once

#include "actors/repo/limits.hpp"
#include "actors/repo/repo_types.hpp"
#include "actors/support/account_sources.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace weir::actors {

/// A hash that tells signing keys from each other; never 0.
inline uint64_t key_mark(const storage::identity_row& x) noexcept {
  return std::max<uint64_t>(atproto::stable_hash(x.signing_key), 1);
}

/// Whether the directory reports for the first time that an identity is gone
/// which it knew before. The directory may be wrong, so this answer is not a
/// newer document by which an event may be judged.
inline bool is_newly_gone(const std::optional<storage::identity_row>& x,
                             const storage::repo_row& row) noexcept {
  return x && x->tombstoned && !row.words.tombstoned;
}

/// The open questions of a repo while it has no document that is newer than the
/// frames it has to judge (protocol-coverage.md 2.5.6). A failed look-up is no
/// answer, so a frame that the known document refuses may still be valid.
///
/// - Frames that need the answer are kept in the sync buffer.
/// - #account events of hosts are kept here, the last one of each stream.
/// - A refusal is remembered: with another key or host it may have been wrong.
///
/// While a newer document is needed, the repo's row says `gap` and
/// `identity_due`, so that a crash leads to a look-up and a fetch; `refused_by`
/// says that something was refused.
class document_wait {
public:
  /// A newer document is needed.
  bool open() const noexcept { return open_; }

  /// Frames are kept in the sync buffer until it arrives.
  bool keeping() const noexcept { return keeping_; }

  /// Something was decided that a document with another key or host would undo.
  bool regrets() const noexcept { return regrets_; }

  void begin() noexcept { open_ = true; }

  /// @param upstream The stream that brought the frame.
  void keep_frames(uint32_t upstream) noexcept {
    if (!keeping_)
      from_ = upstream;
    open_ = keeping_ = true;
  }

  /// The stream of the first frame that is kept.
  uint32_t from() const noexcept { return from_; }

  /// The kept frames were dropped: a fetch by the known document has them.
  void drop_frames() noexcept {
    regrets_ |= keeping_;
    keeping_ = false;
  }

  /// A frame was refused, or applied before older ones that are kept.
  void regret() noexcept { regrets_ = true; }

  /// Keeps an #account event of a host that may not be the current one, in
  /// place of the earlier event of the same stream.
  void hold(const account_sources::saying& word) {
    forget_word(word.at.upstream);
    if (words_.size() == limits::held_words_max) {
      words_.erase(words_.begin());
      regrets_ = true; // The dropped event may have been the host's.
    }
    words_.push_back(word);
  }

  /// Takes the last event that the account's host sent; all others stay.
  /// @param is_host Whether the upstream with this id is the account's host.
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

  /// This stream sent a later event, which was processed.
  void forget_word(uint32_t upstream) {
    std::erase_if(words_, [upstream](const account_sources::saying& x) {
      return x.at.upstream == upstream;
    });
  }

  /// Drops all kept events: no host can speak for the account.
  void forget_words() noexcept { words_.clear(); }

  /// A fetch is wanted. It waits for the newer document, but only once:
  /// otherwise someone who sends invalid events could prevent it.
  /// @returns false when the fetch does not wait any more.
  bool put_off() noexcept {
    if (fetch_ == fetch_state::waited)
      return false;
    fetch_ = fetch_state::waits;
    return true;
  }

  /// @returns true when a fetch was put off; it waits no longer.
  bool resume() noexcept {
    if (fetch_ != fetch_state::waits)
      return false;
    fetch_ = fetch_state::waited;
    return true;
  }

  void begin_fetch() noexcept { fetch_ = fetch_state::none; }

  /// The newer document arrived. Refusals matter until key or host change.
  /// @returns whether frames were kept for the document.
  bool close() noexcept {
    open_ = false;
    return std::exchange(keeping_, false);
  }

  /// A fetch replaces the whole copy, so no refusal matters any more.
  void settle() noexcept { regrets_ = false; }

private:
  enum class fetch_state : uint8_t { none, waits, waited };

  bool open_ = false;
  bool keeping_ = false;
  bool regrets_ = false;
  fetch_state fetch_ = fetch_state::none;
  uint32_t from_ = 0;
  std::vector<account_sources::saying> words_; ///< The oldest comes first.
};

} // namespace weir::actors
