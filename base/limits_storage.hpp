#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds of what one repo or host may take of the store.
namespace weir::limits {

// -- names of collections (storage/name_shares) -------------------------------
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

// -- chains (storage/chain_table) ---------------------------------------------
/// Streams that the row of a chain names; each further one has its own row, so
/// that a commit writes what it changes and not what the repo ever held.
constexpr size_t chain_streams_inline_max = 16;

// -- ids of events (storage/log_epochs) ---------------------------------------
/// Each second has so many ids of its own, more than any node can give out in
/// one: a store that is adopted begins with those of the second, so a backup
/// that is put back twice gives none twice. They last until 2094.
constexpr uint64_t adopted_ids_a_second = 4'194'304;
/// Where the clock does not help, the next id is so far behind the last one at
/// least, and so many seconds' ids more, which are drawn.
constexpr uint64_t adopted_ids_ahead = 4'294'967'296;
constexpr uint64_t adopted_ids_drawn = 1'048'576;
constexpr int64_t adopted_ids_since = 1'767'225'600; ///< 2026 began, in Unix time.
/// Backups put back into one store, one on the other.
constexpr size_t log_epochs_max = 1'000;
/// An application that acknowledges what this log never gave out is named in the
/// log of the node so often at most.
constexpr auto foreign_ack_interval = std::chrono::minutes{1};

} // namespace weir::limits
