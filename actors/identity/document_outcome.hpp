#pragma once

#include "actors/support/health_machine.hpp"

#include <string>
#include <utility>

namespace weir {
struct identity_document;
} // namespace weir

namespace weir::actors {

/// What a look-up shows about the directory, and its text.
std::pair<look_up_fault, std::string> outcome_of(const identity_document& x);

} // namespace weir::actors
