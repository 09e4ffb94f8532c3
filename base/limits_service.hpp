#pragma once

#include <chrono>

/// What a node has to do with the program that started it as a service.
namespace weir::limits {

using namespace std::chrono_literals;

/// How long a message to the service manager waits for room in its queue. The
/// manager reads within milliseconds; a stop has 10 s for everything.
constexpr auto service_message_wait = 1s;

} // namespace weir::limits
