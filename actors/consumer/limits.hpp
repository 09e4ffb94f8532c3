#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Limits that `actors/consumer` keeps. Each name contains the thing and the
/// unit. The value itself is allowed; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// Events between log and ack for one consumer, and the bytes of log entries
/// that they keep in memory.
constexpr size_t consumer_events_max = 1'000;
constexpr size_t consumer_bytes_max = 8'388'608;

/// Tap's TAP_RETRY_TIMEOUT, the first wait between attempts.
constexpr auto consumer_retry_timeout = 60s;
constexpr uint32_t consumer_attempts_max = 20;

/// Events of one DID in the window of a consumer.
constexpr size_t consumer_did_events_max = 64;

/// Reads of single DIDs at the same time.
constexpr size_t consumer_did_pages_max = 8;

/// The wait between attempts doubles up to this time.
constexpr auto consumer_retry_delay_max = 10min;

/// Parked DIDs and their sent events, whose late acks still count.
constexpr size_t consumer_parked_max = 65'536;

/// A DID with a full queue holds up the others for at most this time; then it
/// is read separately.
constexpr auto consumer_patience = 1s;
constexpr auto consumer_lazy_write = 1s; ///< For progress without acks.

/// When a page of a DID brought nothing, it is requested again after this time.
constexpr auto empty_page_delay = 1s;

/// Interval at which DIDs whose account is not active are checked without a
/// reason: the fact that would release them may have been erased.
constexpr auto held_check_interval = 30s;

/// Acks that make nothing else possible wait at most this long for the
/// CONSUMER's next turn. To wake it for each ack would be a third of the work
/// of a node that gets some hundred commits a second.
constexpr std::chrono::microseconds acks_wait{100'000};

/// Settled events wait at most this long to be written. A flush for each ack
/// would be half of all flushes, and all it could save is that an event comes
/// again after a crash.
constexpr std::chrono::microseconds acks_write_wait{200'000};

/// Orders about dead letters that wait at the same time; one more is refused.
constexpr size_t dead_letters_orders_max = 16;

/// When an application acknowledges ids that this log never gave out, the log
/// of the node names it at most once in this time.
constexpr auto foreign_ack_interval = std::chrono::minutes{1};

/// Interval at which the oldest waiting event is judged again while no
/// application is connected. That reads one page of the log, and further pages
/// only while no event that was read may be delivered.
constexpr std::chrono::microseconds unread_look_interval
  = std::chrono::seconds{10};

/// An application that sends messages which are not acks is named at most once
/// in this time.
constexpr auto refused_ack_interval = std::chrono::minutes{1};

/// Number of events given up by one consumer that are named in the log within
/// `letter_lines_interval`.
constexpr uint64_t letter_lines_max = 60;
constexpr auto letter_lines_interval = 60s;

} // namespace weir::limits
