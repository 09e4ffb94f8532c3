#pragma once

#include "storage/log/committer.hpp"
#include "storage/log/operation_store.hpp"
#include "storage/tables/collection_table.hpp"

#include <memory>

namespace weir::storage {

/// The operations of one store of a data directory: the log that a node writes.
/// What it applies goes through the same `committer`, so record heads,
/// chains and the other tables of the store follow.
///
/// # The row of a repo
/// Its first operation makes the repo known: it gets a row with the status
/// `pending`, so a node fetches it again and finds out what has changed since.
/// An operation of `$identity` or `$account` makes the row say what it says.
///
/// # Ownership and threads
/// Borrows the database and the clock, which outlive it. While one exists that
/// writes, nothing else may write to the database.
///
/// # Limits
/// Those of `update_writer`.
class leveldb_store final : public operation_store {
public:
  static result<std::unique_ptr<leveldb_store>>
  open(database& db, const clock& time);

  result<std::optional<stored_operation>>
  get(const stream_name& stream, uint64_t index,
      const read_bounds& bounds = {}) const override;

  result<operation_page>
  get_since(const stream_name& stream, std::optional<uint64_t> after,
            const read_bounds& bounds = {}) const override;

  result<operation_page>
  get_since_time(const stream_name& stream, int64_t timestamp_ms,
                 std::optional<uint64_t> after,
                 const read_bounds& bounds = {}) const override;

  result<operation_page>
  get_since_id(op_id after, const operation_filter& filter = {},
               const read_bounds& bounds = {}) const override;

  result<uint64_t> next_index(const stream_name& stream) const override;

  op_id last_id() const override { return writer_->last_id(); }

  result<void> sync() override;

private:
  leveldb_store(database& db, std::unique_ptr<collection_table> names,
                std::unique_ptr<committer> writer)
    : db_(db), names_(std::move(names)), writer_(std::move(writer)) {}

  result<apply_receipt>
  append(const apply_request& request,
         const std::vector<indexed_operation>& staged) override;
  result<journal_batch> group_of(const apply_request& request,
                                 const std::vector<indexed_operation>& staged);
  result<void> add_row(journal_batch& to) const;

  database& db_;
  std::unique_ptr<collection_table> names_;
  std::unique_ptr<committer> writer_;
};

} // namespace weir::storage
