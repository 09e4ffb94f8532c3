#pragma once

#include "storage/disk/database.hpp"
#include "storage/disk/safe_env_disk.hpp"
#include "storage/segments/limits.hpp"
#include "storage/segments/segment_cursor.hpp"

#include <functional>

namespace leveldb {
class WritableFile;
} // namespace leveldb

namespace weir::storage {

struct segment_options {
  std::string directory;
  access_mode access = access_mode::owner;
  uint64_t segment_bytes_max = limits::segment_bytes_max;
  size_t streams_max = limits::segment_streams_max;
  disk_env* disk = nullptr;         ///< Null: the machine's.
  random_source* random = nullptr;  ///< Null: the kernel's.
};

/// The files of a directory of segments: its identity, its frames, and the end
/// to which frames are appended (docs/segment-format.md 1).
///
/// # Opening
/// Every frame is read. An end of the last segment that is no whole frame, and
/// after which no frame follows, was never acknowledged: an owner cuts it off
/// with a warning, a reader passes over it. Anything else that is no frame
/// refuses the directory, and nothing is changed.
///
/// # Durability
/// After the first failed write every further one repeats the error.
///
/// # Ownership and threads
/// One owner, or readers without an owner; one thread.
class segment_files {
public:
  /// Takes a frame and answers how many operations it has.
  using frame_visitor
    = std::function<result<size_t>(op_id first, const shared_bytes& payload)>;

  /// @param visit Gets every frame, in order.
  static result<std::unique_ptr<segment_files>>
  open(const segment_options& options, const frame_visitor& visit);

  ~segment_files();

  /// Appends a frame with `count` operations.
  result<void> append(bytes_view payload, size_t count, sync_mode how);

  /// All frames are durable when it returns.
  result<void> sync();

  /// A cursor before a frame that is at or before this operation.
  segment_cursor read_from(op_id id) const;

  /// Id of the next operation.
  op_id next() const noexcept { return next_; }

private:
  explicit segment_files(const segment_options& options);

  result<void> claim();
  result<void> make_identity();
  result<void> list();
  result<void> scan(const frame_visitor& visit);
  result<void> end_at(const segment_cursor& frames, const error& why);
  result<void> cut(segment& last, const std::string& text);
  result<void> open_last();
  result<void> begin_segment();
  result<void> write(const std::string& frame, sync_mode how);
  void mark(size_t at, op_id first, uint64_t offset);
  error refuse(const std::string& why) const;

  segment_options options_;
  disk_env& disk_;
  std::unique_ptr<owner_lock> lock_;
  uint64_t identity_ = 0;
  op_id next_ = 1;
  std::vector<segment> all_;
  std::unique_ptr<leveldb::WritableFile> end_; ///< Of the last segment.
  error failure_;
};

} // namespace weir::storage
