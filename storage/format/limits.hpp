#pragma once

#include <cstddef>

/// Limits of `storage/format`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

/// Operations of one transaction, which is one log block.
constexpr size_t transaction_ops_max = 256;

/// Streams of one repo, without `$` scopes.
constexpr size_t repo_streams_max = 1'024;

/// The signed block of a commit of which nothing was kept; the row of the chain
/// has it. Such blocks have less than 300 bytes. A commit with a larger block
/// gets an entry of the log, so that no account makes rows large that stay in
/// memory.
constexpr size_t passed_block_bytes_max = 1'024;

/// Partitions of one log.
constexpr size_t partitions_max = 256;

} // namespace weir::limits
