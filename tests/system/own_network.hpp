#pragma once

#include <string_view>
#include <vector>

namespace weir::tests {

/// A network that nobody else is in: a test can be any address of the world
/// there, public ones and those of an operator's own network, and see who
/// comes.
///
/// The test that calls this runs again in a process of its own, as the owner of
/// a user, network and mount namespace. Its loopback has `addresses` (IPv4,
/// each by itself), all ports are free, and names are asked for at 127.0.0.1,
/// port 53, where the test has a name server or nobody answers.
///
/// @returns True in that process: the test goes on. False in the first one: the
///          verdict is in, and the test returns at once. Where the system has
///          no such namespaces the test is skipped, loudly.
bool in_own_network(const std::vector<std::string_view>& addresses);

} // namespace weir::tests
