#pragma once

#include "base/clock.hpp"
#include "storage/log/operation_store.hpp"
#include "storage/segments/segment_files.hpp"
#include "storage/segments/segment_heads.hpp"

#include <memory>

namespace weir::storage {

/// Operations in a directory of segments: files that only grow, in a format
/// that other programs can read (docs/segment-format.md). For export, import
/// and archives.
///
/// # Cost
/// A read by id, and one that goes on where the last one ended, reads at most
/// 256 KiB beside its answer. Any other read of a stream reads the log from the
/// first operation of the stream on.
///
/// # Ownership and threads
/// Borrows the clock. One thread at a time reads or writes.
///
/// # Limits
/// Those of `segment_files` and `segment_heads`. Besides, one transaction is in
/// memory.
class segment_store final : public operation_store {
public:
  /// Reads all of the directory and checks every frame and every hash.
  static result<std::unique_ptr<segment_store>>
  open(const segment_options& options, const clock& time);

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

  op_id last_id() const override { return files_->next() - 1; }

  result<void> sync() override { return files_->sync(); }

private:
  segment_store(const clock& time, size_t streams_max)
    : clock_(time), heads_(streams_max) {}

  /// Where the last read of a stream ended.
  struct place {
    stream_name stream;
    uint64_t index = 0;
    op_id frame = 0;
  };

  result<apply_receipt>
  append(const apply_request& request,
         const std::vector<indexed_operation>& staged) override;
  segment_transaction
  transaction_of(const apply_request& request,
                 const std::vector<indexed_operation>& staged) const;
  op_id frame_before(const stream_name& stream, const segment_head& head,
                     uint64_t index) const;
  result<operation_page> read(const stream_name& stream,
                              std::optional<uint64_t> after,
                              std::optional<int64_t> timestamp_ms,
                              const read_bounds& bounds) const;

  const clock& clock_;
  segment_heads heads_;
  std::unique_ptr<segment_files> files_;
  int64_t written_us_ = 0;
  mutable place last_read_;
};

} // namespace weir::storage
