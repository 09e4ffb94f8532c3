#pragma once

#include "storage/disk/database.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

/// A data directory has one store for each partition: that of partition 0 lies
/// in the directory itself, that of another one in a folder of it (ADR 26).
namespace weir::storage {

/// Name of a row of the first store, in the table meta. While it is there, all
/// stores were made, so one that is missing was lost.
constexpr const char* partitions_row_name = "partitions";

/// Names of rows of the first store, in the table meta, begin with this; the
/// number of a partition follows. Its value is how often that store had been
/// opened when all of them were open the last time. A store that was opened
/// less often is an older copy.
constexpr const char* openings_row_begin = "openings_";

/// Name of a row of each other store: what the first store said of it then. A
/// first store that says less is an older copy.
constexpr const char* openings_noted_row_name = "openings_noted";

/// `DATA_DIR/partition-2`.
std::string partition_directory(const std::string& data_dir,
                                uint16_t partition);

/// Opens all of them, or makes them, in the order of partitions.
/// @param options For each, with `directory` as the data directory.
/// @param partitions How many a new directory gets, and any other one must
/// have; 0 = one, and as many as it has.
/// @param end_wanted Called before each further store and each row that is
/// written; true ends it with `ec::cancelled`, and it can be done again. Null:
/// nothing is asked.
///
/// # Errors
/// As `database::open`. `ec::invalid_argument` when the directory was made with
/// another number of partitions, or is itself the store of a partition, or the
/// store of one is missing, another's, or older than the others. An older copy
/// is known only when all were opened since it was made;
/// `ec::not_found` for a reader when they were not all made yet.
result<std::vector<std::unique_ptr<database>>>
open_partition_stores(const database_options& options, uint16_t partitions,
                      const std::function<bool()>& end_wanted = {});

} // namespace weir::storage
