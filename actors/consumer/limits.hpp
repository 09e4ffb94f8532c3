#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Bounds that `actors/consumer` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// Events of one DID among them.
constexpr size_t consumer_did_events_max = 64;

/// Parked DIDs and their sent events, whose late acks still count.
constexpr size_t consumer_parked_max = 65'536;

/// A DID whose full share of the window holds up others is read separately.
constexpr auto consumer_patience = 1s;
constexpr auto consumer_lazy_write = 1s; ///< For progress without acks.

/// Such requests that wait for each other; one more is refused.
constexpr size_t dead_letters_orders_max = 16;

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

/// Of the events that one consumer gives up, so many are named in so long a time.
constexpr uint64_t letter_lines_max = 60;
constexpr auto letter_lines_interval = 60s;

} // namespace weir::limits
