#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Limits of `apps/weir`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

using namespace std::chrono_literals;

/// How long a message to the service manager waits for room in its queue. The
/// manager reads within milliseconds, and a stop has 10 s for everything.
constexpr auto service_message_wait = 1s;

/// The store uses up to half of the descriptors, and the rest must be enough
/// for the ports, upstreams, hosts and applications. With fewer, a node would
/// report that it is ready and answer no request.
constexpr uint64_t descriptors_min = 256;

/// How long `weir backup` waits for a node to make its backup.
constexpr std::chrono::seconds backup_wait = 24h;

constexpr size_t config_file_bytes_max = 1'048'576;

} // namespace weir::limits
