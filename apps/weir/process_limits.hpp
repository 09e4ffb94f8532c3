#pragma once

#include "base/error.hpp"

#include <cstdint>

namespace weir::apps {

/// This is enough for both ports (1,024 connections each), the hosts and the
/// store.
constexpr uint64_t descriptors_enough = 4'096;

/// Lets this process open as many files and sockets as the system allows.
/// @returns how many that is, or the largest number when the system does not
/// say.
uint64_t raise_descriptor_limit();

/// Refuses fewer than `limits::descriptors_min`. The error says what to do.
result<void> check_descriptors(uint64_t allowed);

/// Opens /dev/null for standard input, output and error where they are closed.
/// Otherwise the first file or socket to be opened would get their number, and
/// what is printed. Call it before anything else is opened.
void open_standard_descriptors();

/// From here on, the process reports on standard error why it aborts when no
/// code handles an exception, for example when the system refuses a thread or
/// memory.
void explain_aborts();

} // namespace weir::apps
