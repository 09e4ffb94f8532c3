#pragma once

#include "storage/format/journal_batch.hpp"

namespace weir::storage {

class collection_table;
class write_batch;

/// Adds what a group writes besides the updates of repos: rows of upstreams,
/// listings, identities, consumers and settings.
void put_group_rows(const journal_batch& group, uint16_t partition,
                    collection_table& names, write_batch& batch);

} // namespace weir::storage
