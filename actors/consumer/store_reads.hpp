#pragma once

#include "actors/consumer/delivery_types.hpp"
#include "actors/support/store_readers.hpp"
#include "messages/consumer.hpp"

#include <string>

/// What a CONSUMER reads of the store. Runs on READER threads.
namespace weir::actors {

/// Finds the dead letters that an order names, with the transactions in which
/// they were logged. An order for one repo looks among
/// `limits::dead_letters_order_max` letters.
letters_found find_letters(const store_readers& store,
                           const std::string& consumer,
                           const letters_order& order);

/// Decides for each letter whether it is still current: a record must still be
/// as the event says, and for an account no later event may exist.
void judge_letters(const store_readers& store, letters_found& x);
/// Reads the log from the oldest event on: a page while it is not known whether
/// the event may be delivered, otherwise only its transaction.
/// @param current_before As in `storage::log_page`.
unread_log read_unread(const store_readers& store, const oldest_event& x,
                       storage::op_id durable, storage::op_id current_before);

} // namespace weir::actors
