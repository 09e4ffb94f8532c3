#pragma once

#include "tests/unit/storage/journal_fixture.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weir::tests {

/// A valid store with rows in every table that a writer fills: repos that are
/// synced, fetched, failed, deleted and half erased, and forgotten.
class full_store : public test_store {
public:
  full_store();

  /// Every key, in order.
  std::vector<std::string> keys() const;

  /// A row as it is stored, or no value.
  std::optional<std::string> find_raw(const std::string& key) const;

  /// Restores a value that `find_raw` returned.
  void restore(const std::string& key, const std::optional<std::string>& value);

  /// The checker's findings with this row instead; afterwards the store is
  /// unchanged.
  std::string findings_with(const std::string& key,
                            const std::optional<std::string>& value);

  /// All earlier values of each row while the store was made.
  const std::map<std::string, std::set<std::string>>& past() const noexcept {
    return past_;
  }

  test_account synced{'a'};
  test_account failed{'b'};
  test_account erasing{'c'};
  test_account forgotten{'d'};
  test_account syncing{'e'};
  test_account pending{'f'};
  test_account erased{'g'};
  test_account wide{'h'};
  storage::op_id erasing_from = 0; ///< First operation of `erasing`.

private:
  void make_upstreams();
  void make_synced();
  void make_out_of_sync();
  void make_erased();
  void make_wide();
  void make_consumers();
  void identify(test_account& who);
  void apply(test_account& who, repo_update update);
  void remember();

  std::map<std::string, std::set<std::string>> past_;
};

} // namespace weir::tests
