#pragma once

#include "storage/log/committer.hpp"
#include "storage/tables/collection_table.hpp"
#include "storage/tables/limits.hpp"
#include "storage/verify/verify.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/support/memory_disk.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

// A store with its writer, and accounts with a valid history: CIDs are those of
// the bytes, data roots those of the records.

namespace weir::tests {

using storage::op_id;
using storage::repo_update;

/// A store on a disk in memory.
class test_store {
public:
  /// What LevelDB's write-ahead logs contain. Rows that LevelDB has moved to
  /// tables, as each `reopen` does, are not counted any more.
  struct logged {
    uint64_t batches = 0;
    uint64_t rows = 0;
    uint64_t bytes = 0; ///< Of keys and values.
  };

  explicit test_store(storage::committer_options options = {});

  /// Uses a disk of the caller, which outlives it; not open yet.
  test_store(storage::disk_env& disk, storage::committer_options options,
             size_t write_buffer_bytes = 67'108'864);

  /// Closes the store and opens it again.
  void reopen();

  /// Closes it without opening it again.
  void close();

  /// Opens it; this may fail.
  result<void> try_open();

  /// Commits a group that must succeed completely.
  storage::commit_result commit(storage::journal_batch group);
  storage::update_receipt commit(repo_update update);

  /// The checker's findings as text, one a line; empty when there are none.
  std::string findings(storage::verify_options options = {}) const;

  /// @pre the store uses `disk`
  logged in_logs() const;

  /// Repos with records of a collection, in order.
  std::vector<atproto::did> holders(std::string_view collection) const;

  /// Reads or changes a row as it is stored, to damage it.
  void put_raw(const std::string& key, const std::string& value);
  void erase_raw(const std::string& key);
  std::string get_raw(const std::string& key) const;

  /// For the next opening: the memory limit of collection names.
  size_t names_bytes_max = limits::names_bytes_max;
  memory_disk disk;
  manual_clock time;
  std::unique_ptr<storage::database> db;
  std::unique_ptr<storage::collection_table> names;
  std::unique_ptr<storage::committer> writer;

private:
  storage::disk_env* below_;
  storage::committer_options options_;
  size_t write_buffer_bytes_ = 67'108'864;
  std::unique_ptr<random_source> random_ = seeded_random(7);
};

/// A record to write, or to delete if it has no body.
struct change {
  std::string path;
  std::string body;
  bool undecodable = false;
};

/// One repo that makes the updates of a REPO actor.
class test_account {
public:
  explicit test_account(char letter);

  /// The repo becomes known, with this status.
  repo_update appear(storage::repo_status status
                     = storage::repo_status::synced);

  /// A live commit.
  repo_update commit(const std::vector<change>& changes);

  /// Several live commits in one update.
  repo_update commits(const std::vector<std::vector<change>>& all);

  /// A live commit of which nothing is kept.
  repo_update pass();

  /// A chunk of a resync; `finish` closes it.
  repo_update chunk(const std::vector<change>& changes);
  repo_update finish();

  /// `#account` deleted: everything before is erased.
  repo_update erase();

  /// The same as `erase`, and the repo is removed.
  repo_update forget();

  /// The present value of the row as an operation to append.
  storage::new_operation fact(std::string_view scope) const;

  /// Takes over the writer's receipt.
  void accept(const storage::update_receipt& x);

  atproto::did repo;
  storage::repo_row row;
  bool known = false;
  std::shared_ptr<const storage::chain_row> chain;
  std::map<std::string, std::string> records; ///< Path to body.
  uint64_t rev = 1'000;

private:
  repo_update blank() const;
  void apply(const std::vector<change>& changes, bool live, repo_update& to);
  atproto::cid root() const;
  storage::new_operation commit_operation() const;

  atproto::cid tip_;
};

/// The CID of a test body.
atproto::cid cid_of(const std::string& body);

/// `prefix` and a number with leading zeros, so that it sorts as the numbers
/// do.
std::string numbered(const std::string& prefix, size_t n);

} // namespace weir::tests
