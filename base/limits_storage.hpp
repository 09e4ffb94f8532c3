#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds of what one repo or host may take of the store.
namespace weir::limits {

// -- names of collections (storage/tables/name_shares) -------------------------------
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

// -- chains (storage/tables/chain_table) ---------------------------------------------
/// Streams that the row of a chain names; each further one has its own row, so
/// that a commit writes what it changes and not what the repo ever held.
constexpr size_t chain_streams_inline_max = 16;

// -- ids of events (storage/log/log_epochs) ---------------------------------------
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
/// An application that acknowledges what this log never gave out is named in the
/// log of the node so often at most.
constexpr auto foreign_ack_interval = std::chrono::minutes{1};
/// How often the oldest event that waits is looked at again while no application is
/// connected. That reads one page of the log, and further pages only while none of
/// the events read may be delivered.
constexpr std::chrono::microseconds unread_look_interval
  = std::chrono::seconds{10};
/// One that sends what is no ack at all is named so often at most.
constexpr auto refused_ack_interval = std::chrono::minutes{1};

} // namespace weir::limits
