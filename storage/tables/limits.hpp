#pragma once

#include <cstddef>

/// Limits of `storage/tables`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

/// Commits that are joined in one update.
constexpr size_t repo_coalesced_commits_max = 64;

/// One page of record heads, of repos, or of dead letters.
constexpr size_t heads_page_max = 1'024;
constexpr size_t repos_page_max = 1'024;
constexpr size_t dead_letters_page_max = 1'024;

/// Ranges of acked events above a consumer's position. An event that would make
/// one more range becomes a dead letter.
constexpr size_t consumer_ranges_max = 262'144;

/// Collections of one store. All their names are in memory.
constexpr size_t collections_max = 262'144;

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

} // namespace weir::limits
