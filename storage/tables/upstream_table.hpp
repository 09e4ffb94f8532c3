#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/values.hpp"

#include <vector>

/// Reads the rows of upstreams; the committer writes them. Safe from any
/// thread.
namespace weir::storage {

/// All upstreams that were ever configured, by id.
result<std::vector<upstream_row>> load_upstreams(const database& db);

/// Progress of a listing. An empty collection means the listing of all repos.
result<std::optional<listing_row>>
load_listing(const database& db, const collection_names& names,
             uint32_t upstream, std::string_view collection = {});

} // namespace weir::storage
