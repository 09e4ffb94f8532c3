#pragma once

#include "storage/segments/segment_frame.hpp"

#include <memory>
#include <vector>

namespace leveldb {
class Env;
class SequentialFile;
} // namespace leveldb

namespace weir::storage {

/// One file of a directory of segments.
struct segment {
  std::string name;   ///< Its path.
  op_id first = 0;    ///< Id of its first operation, which its name tells.
  uint64_t bytes = 0; ///< Its size, without what is not valid at its end.
  /// Places of some frames in it, in their order.
  struct mark {
    op_id first = 0;
    uint64_t offset = 0;
  };
  std::vector<mark> marks;
};

/// Reads frames one after the other, in the order of ids.
///
/// # Ownership and threads
/// Borrows the files and the list of segments, which must not change
/// meanwhile. One thread; one payload is in memory.
///
/// # Errors
/// `ec::storage_failure` when a frame is damaged or is not the next one.
class segment_cursor {
public:
  /// @param next Id of the first operation at this place.
  segment_cursor(leveldb::Env& files, const std::vector<segment>& all,
                 uint64_t identity, size_t at, uint64_t offset, op_id next);
  ~segment_cursor();
  segment_cursor(segment_cursor&&) noexcept;

  /// Moves to the next frame. False at the end of the last segment.
  result<bool> next();

  /// Id of the first operation of the frame.
  op_id first() const noexcept { return first_; }

  const shared_bytes& payload() const noexcept { return payload_; }

  /// Says how many operations the frame has, so that the next one is known.
  void count(size_t operations) noexcept { next_ = first_ + operations; }

  /// Where the frame begins: its segment and the offset in it.
  size_t segment_at() const noexcept { return at_; }
  uint64_t offset() const noexcept { return begin_; }

private:
  result<void> open();
  result<std::string> read(size_t size);
  error damaged(const std::string& why) const;

  leveldb::Env& files_;
  const std::vector<segment>& all_;
  uint64_t identity_;
  size_t at_;
  uint64_t offset_;
  op_id next_;
  std::unique_ptr<leveldb::SequentialFile> file_;
  uint64_t begin_ = 0;
  op_id first_ = 0;
  shared_bytes payload_;
};

} // namespace weir::storage
