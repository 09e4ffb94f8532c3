#pragma once

#include <chrono>
#include <cstddef>

/// How fast the directory of did:plc documents is asked, by its answers.
namespace weir::limits {

using namespace std::chrono_literals;

/// Look-ups a second at first: a few hundred repos are there in seconds.
constexpr double plc_pace_start = 200;
/// The fewest look-ups a second because of slow answers. One that limits us may
/// be asked for fewer.
constexpr double plc_pace_min = 20;
/// The rate grows at most once in so long.
constexpr std::chrono::milliseconds plc_pace_interval = 200ms;
/// Connections to the directory, and to each other server that is configured. Each
/// has one look-up at a time: where an answer takes a tenth of a second, eight
/// would bring eighty a second, whatever `plc_per_second` says.
constexpr size_t directory_connections_max = 32;
/// An answer that takes longer is slow. The wait for a free connection to the
/// directory counts as well.
constexpr std::chrono::milliseconds plc_prompt = 2s;
/// How long a directory that limits us is not asked: as long as it says, but at
/// least and at most so long. Without a look-up now and then nobody would see
/// that it is well again, nor be told that it is not.
constexpr std::chrono::seconds plc_rest_min = 1s;
constexpr std::chrono::seconds plc_rest_max = 1h;

} // namespace weir::limits
