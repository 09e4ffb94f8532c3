#pragma once

#include "atproto/identifiers.hpp"
#include "base/bytes.hpp"
#include "storage/format/content_span.hpp"

#include <vector>

/// The rows of what is erased, and what steps of erasing answer.
namespace weir::storage {

/// What is erased next of a repo. Numbers are on disk.
enum class erasure_stage : uint8_t {
  heads = 1,   ///< Record heads and their content references.
  streams = 2, ///< Content, stream blocks, and names that no other repo uses.
  compact = 3, ///< The rows are gone; their bytes wait for a compaction.
};

/// What SWEEPER still has to erase for one repo: heads and content with an id
/// up to `through`.
struct erasure_row {
  op_id through = 0;
  erasure_stage stage = erasure_stage::heads;
  /// The last key that was looked at; empty at the start of the stage.
  bytes resume;
  /// Content that may still be on disk. Spans are sorted and do not touch; at
  /// most `limits::erasure_spans_max`.
  std::vector<content_span> content;
};

/// Content that was erased because its version was replaced or its block
/// trimmed, and that a compaction has to remove from the disk.
struct purge_row {
  /// As in `erasure_row`.
  std::vector<content_span> content;

  bool operator==(const purge_row&) const = default;
};

/// An erasing that is not finished.
struct open_erasure {
  atproto::did repo;
  erasure_row row;
};

/// What a look at some blocks of the log found (log_trim.hpp).
struct spent_blocks {
  std::vector<op_id> firsts; ///< First ids of those that are spent.
  op_id next = 0; ///< Look here next; 0 when no block before the end is left.
};

/// How far a compaction came.
struct compacted {
  op_id next = 0;   ///< Content from here on is still to do; 0 when none is.
  bool gone = true; ///< The erased bytes before `next` are off the disk.
};

} // namespace weir::storage
