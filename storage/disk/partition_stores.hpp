#pragma once

#include "storage/disk/database.hpp"

#include <memory>
#include <string>
#include <vector>

/// A data directory has one store for each partition: that of partition 0 lies
/// in the directory itself, that of another one in a folder of it (ADR 26).
namespace weir::storage {

/// Name of a row of the first store, in the table meta: all of them were made,
/// so one that is missing was lost.
constexpr const char* partitions_row_name = "partitions";

/// `DATA_DIR/partition-2`.
std::string partition_directory(const std::string& data_dir,
                                uint16_t partition);

/// Opens all of them, or makes them, in the order of partitions.
/// @param options For each, with `directory` as the data directory.
/// @param partitions How many a new directory gets, and any other one must
/// have;
///        0 = one, and as many as it has.
///
/// # Errors
/// As `database::open`. `ec::invalid_argument` when the directory was made with
/// another number of partitions, or the store of one is missing or another's;
/// `ec::not_found` for a reader when they were not all made yet.
result<std::vector<std::unique_ptr<database>>>
open_partition_stores(const database_options& options, uint16_t partitions);

} // namespace weir::storage
