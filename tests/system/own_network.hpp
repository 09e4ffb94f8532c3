#pragma once

#include <string_view>
#include <vector>

namespace weir::tests {

/// A network of its own for a test: the test can have any address there, public
/// ones and those of an operator's own network, and sees who connects.
///
/// The test that calls this runs again in a process of its own, as the owner of
/// a user, network and mount namespace. Its loopback has `addresses` (IPv4,
/// each alone), and all ports are free. Names are looked up at 127.0.0.1, port
/// 53, where the test runs a name server or nobody answers.
///
/// @returns True in that process: the test continues. False in the first
/// process: the verdict is recorded, and the test must return at once. Where
/// the system has no such namespaces the test is skipped with a message.
bool in_own_network(const std::vector<std::string_view>& addresses);

} // namespace weir::tests
