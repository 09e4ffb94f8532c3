#pragma once

#include "storage/format/records.hpp"
#include "storage/log/log_reader.hpp"
#include "storage/tables/repo_table.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir::storage {
class collection_table;
class database;
class tail_cache;
} // namespace weir::storage

namespace weir {

struct did_page;
struct export_stored;
struct heads_page;
struct log_page;
struct repo_buffer_page;

/// Cold reads of one store, as the engine asks for them. Runs on READER
/// threads; answers are plain messages.
///
/// # Ownership and threads
/// Borrows the store, which outlives all actors. Any thread.
struct store_readers {
  storage::database& db;
  storage::collection_table& names;
  storage::tail_cache& tail;
  uint32_t readers = 0; ///< READERs that `spawn_reader` gave it to.
  /// The partition in keys: always 0, as each partition has its own store.
  static constexpr uint16_t key_partition = 0;

  struct repo_rows {
    std::optional<storage::repo_row> row;
    std::shared_ptr<const storage::chain_row> chain;
    /// The repo's own collections; empty: the filter of the node applies.
    std::vector<std::string> collections;
  };

  result<repo_rows> load_repo(const atproto::did& repo) const;

  /// Reads only the row.
  result<std::optional<storage::repo_row>>
  load_row(const atproto::did& repo) const;

  /// One page of the sync buffer's commits after `after` (a rev's number).
  repo_buffer_page read_buffer(const atproto::did& repo, uint64_t after) const;

  result<std::optional<storage::identity_row>>
  load_identity(const atproto::did& repo) const;

  /// How far the directory's export was read, and the first DIDs that it has
  /// rows of, at most `names_max`.
  result<export_stored> load_export(size_t names_max) const;

  /// The row that the directory's export has of the repo.
  result<std::optional<storage::identity_row>>
  load_exported(const atproto::did& repo) const;

  /// One page of the log after `after` and up to `durable`.
  /// @param current_before As in `storage::log_page`.
  log_page read_log(storage::op_id after, storage::op_id durable,
                    storage::op_id current_before) const;

  /// Entries of one repo after `after`, up to `through`; with `facts` only
  /// those of `$identity` and `$account`.
  /// @param page Its `bytes_max` is the usual one.
  did_page read_did(const atproto::did& repo, bool facts, storage::op_id after,
                    storage::op_id through, storage::log_page page) const;

  /// Heads of one repo in the order of their paths, after the path `after`.
  heads_page read_heads(const atproto::did& repo,
                        const storage::chain_row& chain,
                        const std::string& after) const;
};

} // namespace weir
