#pragma once

#include "base/option_range.hpp"

#include <cstddef>
#include <cstdint>

/// Limits of `storage`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

// -- the engine's windows -----------------------------------------------------

/// Commits that are joined in one update.
constexpr size_t repo_coalesced_commits_max = 64;

// -- the writer and the readers of the log ------------------------------------

/// Operations of one transaction, which is one log block.
constexpr size_t transaction_ops_max = 256;

/// A content block gets no further body beyond this size. One body alone may be
/// larger.
constexpr size_t content_block_bytes_max = 65'536;

/// Bodies larger than this have content reference rows by default. With 0 all
/// have.
constexpr size_t inline_refs_min = 1'024;

/// Streams of one repo, without `$` scopes.
constexpr size_t repo_streams_max = 1'024;

/// Repos whose chain position the writer keeps in memory, to save a read.
constexpr size_t repo_guards_max = 65'536;

/// Fences that are kept against late updates of REPO actors that have ended.
constexpr size_t fences_max = 65'536;

/// Collections of one store. All their names are in memory.
constexpr size_t collections_max = 262'144;

/// One page of the log.
constexpr size_t log_page_ops_max = 256;
constexpr size_t log_page_bytes_max = 1'048'576;

/// The newest part of the log, kept in memory for readers that are near its
/// end.
constexpr size_t tail_cache_bytes_max = 33'554'432;

/// One page of record heads, of repos, or of dead letters.
constexpr size_t heads_page_max = 1'024;
constexpr size_t repos_page_max = 1'024;
constexpr size_t dead_letters_page_max = 1'024;

/// Rows that one step of an erasing looks at.
constexpr size_t erase_step_rows_max = 256;

/// For a check of a store: findings that are kept, and records compared at
/// once.
constexpr size_t findings_max = 1'000;
constexpr size_t fold_records_max = 262'144;

// -- delivery to one consumer -------------------------------------------------

/// Ranges of acked events above a consumer's position. An event that would make
/// one more range becomes a dead letter.
constexpr size_t consumer_ranges_max = 262'144;

/// Partitions of one log.
constexpr size_t partitions_max = 256;

// -- files of a store ---------------------------------------------------------

/// Bytes of LevelDB's own text log before it begins again. One predecessor is
/// kept.
constexpr size_t info_log_bytes_max = 1'048'576;

/// Bytes of FORMAT and CURRENT, which have a few lines.
constexpr uint64_t store_name_file_bytes_max = 4'096;

/// Bytes of any other file of a store that is read from its beginning: logs and
/// MANIFEST.
constexpr uint64_t store_file_bytes_max = 4'294'967'296;

/// The data directory counts as gone when this many checks in a row, which are
/// `room_check_interval` apart, did not find it: somebody may move it for a
/// moment.
constexpr size_t place_looks_max = 3;

// -- names of collections -----------------------------------------------------

/// Memory of all names of collections.
constexpr size_t names_bytes_max = 33'554'432;

/// What a name costs in addition to its text and the texts of its owners: a
/// place in two tables.
constexpr size_t name_entry_bytes = 256;

/// One half of that memory is for everybody. The names that the repos of one
/// host added may take a fourth of what is still free there, and those of one
/// repo a 32nd, so that nobody who invents names can use all of it.
constexpr size_t names_host_share = 4;
constexpr size_t names_repo_share = 32;

/// The other half guarantees each host this many bytes, about twenty names,
/// however much others use. With the full memory it is enough for 2,048 hosts
/// that invent names.
constexpr size_t names_host_floor = 8'192;

// -- chains -------------------------------------------------------------------

/// Streams that the row of a chain names. Each further one has its own row, so
/// that a commit writes only what it changes (ADR 9).
constexpr size_t chain_streams_inline_max = 16;

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

/// Spans of content that the erasing of one repo keeps. Neighbours are joined,
/// and when there are more than this, so are the two that are closest.
constexpr size_t erasure_spans_max = 256;

/// How often tables are rewritten when they still have erased values after a
/// rewrite, since LevelDB may have moved them meanwhile. After that a reader
/// keeps the values, and a later try comes after its end.
constexpr int purge_rounds_max = 4;

} // namespace weir::limits
