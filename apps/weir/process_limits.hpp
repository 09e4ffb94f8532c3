#pragma once

#include "base/error.hpp"

#include <cstdint>

namespace weir::apps {

/// The store takes up to half of the descriptors, and what is left must do for
/// the ports, the upstreams, the hosts and the applications. With fewer a node
/// would call itself ready and answer nobody.
constexpr uint64_t descriptors_min = 256;

/// Both ports (1,024 connections each), the hosts and the store have enough with
/// as many.
constexpr uint64_t descriptors_enough = 4'096;

/// Lets this process open as many files and sockets as the system allows it.
/// @returns How many, or the largest number where the system does not tell.
uint64_t raise_descriptor_limit();

/// Refuses fewer than `descriptors_min`, with the remedy.
result<void> check_descriptors(uint64_t allowed);

/// Input, output and error output lead nowhere where they were closed: else the first
/// file or socket that is opened would be one of them, and get what is printed.
/// Before anything is opened.
void open_standard_descriptors();

/// From here on the process says on its error output why it ends when nobody can
/// handle what happened, such as a thread or memory that the system refuses. It
/// still aborts.
void explain_aborts();

} // namespace weir::apps
