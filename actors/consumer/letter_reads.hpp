#pragma once

#include "actors/support/store_readers.hpp"
#include "messages/consumer.hpp"

#include <string>

/// What the store says of dead letters. Runs on READER threads.
namespace weir::actors {

/// The dead letters that an order means, with the transactions they were logged
/// in. Of one repo they are looked for among `limits::dead_letters_order_max`.
letters_found find_letters(const store_readers& store,
                           const std::string& consumer,
                           const letters_order& order);

/// Says of each whether it is what there is to be said now: of a record,
/// whether it still is as this event says, of an account, whether nothing was
/// said later.
void judge_letters(const store_readers& store, letters_found& x);

} // namespace weir::actors
