#pragma once

#include "storage/disk/database.hpp"
#include "storage/log/content_reader.hpp"
#include "storage/tables/collection_table.hpp"
#include "storage/tables/row_access.hpp"
#include "storage/verify/verify.hpp"

#include <unordered_map>

/// What the parts of the checker share.
namespace weir::storage {

/// Index of the block's stream that a row of the stream table is about; nothing
/// when the block does not have it.
std::optional<size_t> stream_in(const log_block& x,
                                const stream_block_key& key);

/// "operation 5", for findings.
inline std::string operation_name(op_id id) {
  return "operation " + std::to_string(id);
}

/// A log block and its first id.
struct placed_block {
  op_id first = 0;
  std::shared_ptr<const log_block> block;
};

/// The last operation of its kind that is not erased; number 0 when there is
/// none.
struct last_operation {
  op_id number = 0; ///< Number of the operation, and of its content.
  atproto::cid id;
};

/// The last operations of one repo.
struct last_operations {
  std::optional<repo_row> row; ///< The row that they are compared with.
  /// A commit of the row's indexed rev exists, or may be one that was passed.
  bool has_indexed = false;
  last_operation commit;
  atproto::tid commit_rev;
  last_operation fact;
};

/// Findings, counts and small caches of one run.
class verify_context {
public:
  verify_context(const database& store, const collection_table& known,
                 const verify_options& how)
    : db(store), names(known), options(how), contents(store, how.partition) {}

  void find(std::string invariant, std::string where, std::string sentence);

  /// A finding of the invariant "tables", about a place, a repo or an
  /// operation.
  void wrong(std::string where, std::string sentence) {
    find("tables", std::move(where), std::move(sentence));
  }

  void wrong(const atproto::did& repo, std::string sentence) {
    wrong(repo.str(), std::move(sentence));
  }

  void wrong(op_id id, std::string sentence) {
    wrong(operation_name(id), std::move(sentence));
  }

  /// Adds a damaged row or a failed read as a finding.
  void damaged(std::string where, const error& what) {
    wrong(std::move(where), what.context);
  }

  void count(const char* what, uint64_t n = 1) { report.counts[what] += n; }

  /// The chain of a repo; null when it has none or it is damaged (reported).
  std::shared_ptr<const chain_row> chain_of(const atproto::did& repo);

  /// The block that begins at `first`; null when absent or damaged. The pass
  /// over the log reports damage.
  std::shared_ptr<const log_block> block_at(op_id first);

  /// The block with an operation; null when there is none.
  placed_block block_holding(op_id id);

  /// "did:plc:... app.bsky.feed.like", for findings.
  std::string stream_name(const stream_block_key& x) const;

  /// A row; nothing when it is absent or damaged (reported).
  template <class Row, table_key Key>
  std::optional<Row> row_at(const Key& key, const std::string& where) {
    auto row = load_row<Row>(db, key);
    if (row)
      return std::move(*row);
    damaged(where, row.error());
    return std::nullopt;
  }

  /// A value; nothing when it is damaged (reported).
  template <class Row>
  std::optional<Row> decoded(std::string_view value, table in) {
    auto row = decode_value<Row>(value, in);
    if (row)
      return std::move(*row);
    damaged(to_string(in), row.error());
    return std::nullopt;
  }

  /// Like `each_value`, but reports damaged keys and failed reads, and
  /// continues as far as it can.
  template <table_key Key, class Visit>
  void each(const key_range& range, Visit visit) {
    auto rows = db.scan(range);
    for (; rows.valid(); rows.next()) {
      auto key = decode_key<Key>(rows.key());
      if (key)
        visit(*key, rows.value());
      else
        damaged(to_string(Key::in), key.error());
    }
    if (auto ok = rows.status(); !ok)
      damaged(to_string(Key::in), ok.error());
  }

  /// The same with decoded values.
  template <class Row, table_key Key, class Visit>
  void each_row(const key_range& range, Visit visit) {
    each<Key>(range, [&](Key& key, std::string_view value) {
      if (auto row = decoded<Row>(value, Key::in))
        visit(key, *row);
    });
  }

  /// `visit(*this, key)` for a whole table, whatever its values are.
  template <table_key Key, class Visit>
  void all_keys(Visit visit) {
    each<Key>(range_of<Key>(), [&](const Key& key, std::string_view) {
      visit(*this, key);
    });
  }

  /// `visit(*this, key, row)` for a whole table.
  template <class Row, table_key Key, class Visit>
  void all_rows(Visit visit) {
    each_row<Row, Key>(range_of<Key>(), [&](const Key& key, const Row& row) {
      visit(*this, key, row);
    });
  }

  /// The store with the rows of the node.
  const database& root() const noexcept {
    return options.root == nullptr ? db : *options.root;
  }

  const database& db;
  const collection_table& names;
  const verify_options& options;
  verify_report report;
  content_reader contents; ///< For reading single bodies.
  /// Filled by the pass over the node.
  std::map<uint32_t, uint32_t> upstream_epochs;
  /// From this operation on none was trimmed; set by the pass over the log.
  op_id whole_from = 1;
  op_id last_id = 0;       ///< Set by the same pass.
  uint64_t log_events = 0; ///< Set by the same pass.
  /// Operations that have a row in the table of streams; set by the same pass.
  uint64_t operations_in_streams = 0;

private:
  std::unordered_map<op_id, std::shared_ptr<const log_block>> blocks_;
  atproto::did chain_owner_;
  std::shared_ptr<const chain_row> chain_;
};

/// Whether all operations of a stream may have been trimmed: those of a
/// collection without records, for example.
bool may_be_trimmed(const verify_context& x, const stream_head& stream);

/// Compares the record heads of a collection with the result of its stream.
/// @param trimmed_before Operations with a lower index may be followed by some
/// that were trimmed.
void verify_heads(verify_context& x, const stream_block_key& stream,
                  const chain_row& chain, const stream_head& head,
                  uint64_t trimmed_before);

/// Checks whether a head that counts as absent may still be there.
void verify_left_over(verify_context& x, const record_head_key& key,
                      const std::string& where);

/// Compares the chain and the row of a repo with the last operations of its
/// streams.
void verify_latest(verify_context& x, const atproto::did& repo,
                   const chain_row& chain, const last_operations& last);

/// Looks for content of a log block that no writer makes.
void verify_operations(verify_context& x, op_id first, const log_block& block);

// The passes, in the order in which they run.
void verify_node(verify_context& x);
void verify_log(verify_context& x);
void verify_streams(verify_context& x);
void verify_repos(verify_context& x);
void verify_names(verify_context& x);
void verify_consumers(verify_context& x);

} // namespace weir::storage
