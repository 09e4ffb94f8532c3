#pragma once

#include "simnet/corpus_file.hpp"
#include "simnet/truth.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace weir::simnet {

/// A recorded network that is replayed. Exports show a repository after the
/// events that were played so far: what was stored, and the blocks of those
/// events.
///
/// # Ownership and threads
/// Owns the mapped file. All calls are safe from any thread.
///
/// # Limits
/// Memory: the pages of the file that are in use, and about 100 bytes for each
/// event. The streams keep all frames.
class corpus final : public truth {
public:
  /// Errors: those of `map_file` and `read_corpus_index`.
  static result<std::unique_ptr<corpus>> open(const std::string& path,
                                              bool relay = true);

  /// Plays the next `n` events. @returns how many there were.
  size_t play(size_t n);

  size_t events() const noexcept { return index_.frames.size(); }

  size_t played() const {
    const std::lock_guard lock{guard_};
    return played_;
  }

  size_t accounts() const override { return index_.accounts.size(); }
  account_view view(size_t index) const override;
  std::optional<size_t> find(std::string_view did) const override {
    const auto at = by_did_.find(std::string{did});
    return at == by_did_.end() ? std::nullopt : std::optional{at->second};
  }
  std::optional<size_t> find_handle(std::string_view handle) const override {
    const auto at = by_handle_.find(std::string{handle});
    return at == by_handle_.end() ? std::nullopt : std::optional{at->second};
  }
  shared_bytes export_car(size_t index) const override;
  bytes prove(size_t index, std::string_view path) const override;
  /// Rebuilds the account each time, so use it for comparisons and not for
  /// load.
  void visit_records(size_t index, std::string_view after,
                     const repo_tree::visitor& visit) const override;

private:
  corpus(shared_bytes file, corpus_index index, bool relay);

  shared_bytes frame(size_t number) const;
  /// The commits of an account that were played, in order.
  std::vector<size_t> commits_of(size_t index) const {
    const std::lock_guard lock{guard_};
    return commits_[index];
  }

  const shared_bytes file_;
  const corpus_index index_;
  std::unordered_map<std::string, size_t> by_did_;
  std::unordered_map<std::string, size_t> by_handle_;
  mutable std::mutex guard_; ///< Guards the next two.
  size_t played_ = 0;
  std::vector<std::vector<size_t>> commits_; ///< Frames by account.
};

} // namespace weir::simnet
