#pragma once

#include "storage/disk/database.hpp"
#include "storage/tables/limits.hpp"

#include <vector>

/// Reads the durable state of consumers; the committer writes it. Safe from any
/// thread.
namespace weir::storage {

/// The place where a consumer continues.
struct consumer_state {
  consumer_row row;
  std::vector<acked_range> acked; ///< Ranges above the position, in order.
};

/// Identifies a consumer; names are unique in a dataset.
struct consumer_name {
  uint16_t dataset = default_dataset;
  std::string name;
};

/// Returns nothing when there is no such consumer. Fails with
/// `ec::limit_reached` above `limits::consumer_ranges_max` ranges.
result<std::optional<consumer_state>> load_consumer(const database& db,
                                                    const consumer_name& which,
                                                    uint16_t partition);

/// Dead letters in the order of ids, those after `after`.
result<std::vector<std::pair<op_id, dead_letter_row>>>
load_dead_letters(const database& db, const consumer_name& which,
                  uint16_t partition, op_id after = 0,
                  size_t limit = limits::dead_letters_page_max);

} // namespace weir::storage
