#pragma once

#include "base/option_range.hpp"

#include <cstddef>
#include <cstdint>

/// Bounds that `storage/format` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

// -- the engine's windows -----------------------------------------------------

/// Commits coalesced into one update.
constexpr size_t repo_coalesced_commits_max = 64;

// -- the writer and the readers of the log ------------------------------------

/// Operations of one transaction, that is of one log block.
constexpr size_t transaction_ops_max = 256;

/// A content block takes no further body beyond this; one body may be larger.
constexpr size_t content_block_bytes_max = 65'536;

/// Bodies above it have content reference rows; the default. 0 counts them all.
constexpr size_t inline_refs_min = 1'024;

/// Streams of one repo, `$` scopes aside: its chain row names them all.
constexpr size_t repo_streams_max = 1'024;

/// Repos whose chain position the writer remembers, to save a read.
constexpr size_t repo_guards_max = 65'536;

/// Fences kept against late updates of repo actors that have ended.
constexpr size_t fences_max = 65'536;

/// Collections of one store; all their names are in memory.
constexpr size_t collections_max = 262'144;

/// One page of the log.
constexpr size_t log_page_ops_max = 256;
constexpr size_t log_page_bytes_max = 1'048'576;

/// Recent log held for those who read near its end.
constexpr size_t tail_cache_bytes_max = 33'554'432;

/// One page of record heads, and of repos.
constexpr size_t heads_page_max = 1'024;
constexpr size_t repos_page_max = 1'024;
constexpr size_t dead_letters_page_max = 1'024;

/// Rows looked at in one step of erasing a repo.
constexpr size_t erase_step_rows_max = 256;

/// A check of a store: findings kept, and records folded at once.
constexpr size_t findings_max = 1'000;
constexpr size_t fold_records_max = 262'144;

// -- delivery to one consumer -------------------------------------------------

/// Ranges of settled events; what would split one more is a dead letter.
constexpr size_t consumer_ranges_max = 262'144;

// -- options of a node --------------------------------------------------------

constexpr size_t upstreams_max = 1'024;

/// LevelDB's own text log, before it begins anew; one predecessor is kept.
constexpr size_t info_log_bytes_max = 1'048'576;

/// FORMAT and CURRENT of a store; both are a few lines.
constexpr uint64_t store_name_file_bytes_max = 4'096;

/// Every other file of a store that is read from its begin: logs and MANIFEST.
constexpr uint64_t store_file_bytes_max = 4'294'967'296;

/// The data directory is gone when it was not in its place so many times in a
/// row, `room_check_interval` apart: somebody may move it for a moment.
constexpr size_t place_looks_max = 3;

// -- names of collections -----------------------------------------------------

/// What all names may hold in memory.
constexpr size_t names_bytes_max = 33'554'432;

/// What a name costs beside its text and the texts of its owners: a place in
/// two tables.
constexpr size_t name_entry_bytes = 256;

/// Of one half of that the names that the repos of one host began may take a
/// fourth of what is still free, those of one repo a 32nd: whoever invents
/// names leaves room for others.
constexpr size_t names_host_share = 4;
constexpr size_t names_repo_share = 32;

/// The other half is for so many bytes of each host, some twenty names, however
/// much others took: for 2,048 hosts that invent names, with all the memory.
constexpr size_t names_host_floor = 8'192;

// -- chains -------------------------------------------------------------------

/// Streams that the row of a chain names; each further one has its own row, so
/// that a commit writes what it changes and not what the repo ever held.
constexpr size_t chain_streams_inline_max = 16;

// -- ids of events ------------------------------------------------------------

/// Each second since the begin of 2026 has so many ids of its own, which is more
/// than any node can give out in a second. A store that is adopted goes on with
/// the ids of that second, so a backup that is put back twice does not give out
/// the same ids twice. There are enough of them until 2094.
constexpr uint64_t adopted_ids_a_second = 4'194'304;

/// When the clock does not help, because it is behind or the store was adopted in
/// the same second before, the next id is larger than the last one by at least
/// `adopted_ids_ahead`, plus the ids of a random number of seconds that is below
/// `adopted_ids_drawn`.
constexpr uint64_t adopted_ids_ahead = 4'294'967'296;
constexpr uint64_t adopted_ids_drawn = 1'048'576;
constexpr int64_t adopted_ids_since = 1'767'225'600; ///< 2026 began, in Unix time.

/// How often one store can be adopted.
constexpr size_t log_epochs_max = 1'000;

/// Parts of the content that one repo's erasing remembers; those that lie next
/// to each other are one, and of more the closest become one.
constexpr size_t erasure_spans_max = 256;

/// What is still dead when the tables that held it were rewritten is rewritten
/// again, so often: LevelDB may have moved it meanwhile. Then a reader holds
/// it, and a later try finds that it has ended.
constexpr int purge_rounds_max = 4;

} // namespace weir::limits
