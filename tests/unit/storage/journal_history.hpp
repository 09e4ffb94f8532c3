#pragma once

#include "tests/unit/storage/journal_fixture.hpp"

namespace weir::tests {

/// Accounts and their random history, on a disk that may fail. It knows what
/// was acknowledged, so it can say what a store lost.
class history {
public:
  explicit history(uint64_t seed, size_t body_bytes_max = 1'500);

  storage::journal_batch next_group();

  /// The same as `next_group`, and one account is deleted with all its records.
  storage::journal_batch deletion();

  /// The committed group is durable now.
  void accept(const storage::journal_batch& group,
              const storage::commit_result& out);

  /// Undoes the accounts' changes since the last group that was accepted.
  void rewind();

  /// Commits up to `groups` groups; ends early when the disk fails.
  result<void> commit_to(test_store& store, size_t groups);

  /// Empty when everything that was durable is there unchanged, groups are
  /// complete, and all tables agree; otherwise what is wrong.
  std::string complaint_about(const test_store& store) const;

  /// Number of the last group that is in the store.
  static uint64_t last_group(const test_store& store);

  const atproto::did& deleted() const { return accounts_.back().repo; }

  uint64_t groups = 0;
  uint64_t groups_done = 0;

  /// The content of each operation id that was ever reported durable, as a
  /// consumer would have it.
  std::map<op_id, std::string> durable;

private:
  repo_update next_update(test_account& who);

  size_t body_bytes_max_;
  std::unique_ptr<random_source> dice_;
  std::vector<test_account> accounts_{test_account{'a'}, test_account{'b'},
                                      test_account{'c'}};
  std::vector<test_account> accepted_ = accounts_;
};

} // namespace weir::tests
