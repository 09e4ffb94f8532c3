#pragma once

#include <cstddef>
#include <cstdint>

/// Limits of `storage/log`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

// -- the writer ---------------------------------------------------------------

/// A content block gets no further body beyond this size. One body alone may be
/// larger.
constexpr size_t content_block_bytes_max = 65'536;

/// Bodies larger than this have content reference rows by default. With 0 all
/// have.
constexpr size_t inline_refs_min = 1'024;

/// Repos whose chain position the writer keeps in memory, to save a read.
constexpr size_t repo_guards_max = 65'536;

/// Fences that are kept against late updates of REPO actors that have ended.
constexpr size_t fences_max = 65'536;

/// Streams that the row of a chain names. Each further one has its own row, so
/// that a commit writes only what it changes (ADR 9).
constexpr size_t chain_streams_inline_max = 16;

/// Rows that one step of an erasing looks at.
constexpr size_t erase_step_rows_max = 256;

/// Spans of content that the erasing of one repo keeps. Neighbours are joined,
/// and when there are more than this, so are the two that are closest.
constexpr size_t erasure_spans_max = 256;

/// Operations that one step of erasing replaced contents looks at.
constexpr size_t replaced_step_ops_max = 512;

/// Bytes of rows, about, that one step of erasing replaced contents rewrites:
/// the JOURNAL does it between updates.
constexpr size_t replaced_step_bytes_max = 1'048'576;

/// Rows of the time index that one step of trimming the log removes.
constexpr size_t trim_minutes_max = 256;

/// Bytes of the bodies in one transaction that `operation_store::apply` takes.
/// A commit has at most 2 MiB, and a part of a fetch ends with the body that
/// passes 1 MiB.
constexpr size_t apply_bytes_max = 8'388'608;

// -- the readers --------------------------------------------------------------

/// One page of the log.
constexpr size_t log_page_ops_max = 256;
constexpr size_t log_page_bytes_max = 1'048'576;

/// Operations that one call looks at for a page, whether they fit or not. So a
/// filter that few operations fit does not keep a READER, which others share,
/// for more than some tens of milliseconds.
constexpr size_t operations_looked_max = 16'384;

/// The newest part of the log, kept in memory for readers that are near its
/// end.
constexpr size_t tail_cache_bytes_max = 33'554'432;

// -- ids of events ------------------------------------------------------------

/// Each second since the beginning of 2026 has this many ids of its own, more
/// than a node can give out in a second. An adopted store continues with the
/// ids of the present second, so two copies of one backup do not give out the
/// same ids (ADR 14). The ids last until 2094.
constexpr uint64_t adopted_ids_a_second = 4'194'304;

/// When the clock does not help, because it is behind or the store was adopted
/// in the same second before, the next id is larger than the last one by at
/// least `adopted_ids_ahead`, plus the ids of a random number of seconds below
/// `adopted_ids_drawn`.
constexpr uint64_t adopted_ids_ahead = 4'294'967'296;
constexpr uint64_t adopted_ids_drawn = 1'048'576;
/// 2026 began, in Unix seconds.
constexpr int64_t adopted_ids_since = 1'767'225'600;

/// How often one store can be adopted.
constexpr size_t log_epochs_max = 1'000;

} // namespace weir::limits
