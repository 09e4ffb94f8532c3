#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>

/// Errors as HTTP clients see them: `{"error": Name, "message": sentence}`
/// (docs/api.md).
namespace weir::wire {

/// The HTTP status and the name of an error.
struct problem_kind {
  int status = 500; ///< HTTP status.
  std::string_view name;
};

problem_kind kind_of(ec code) noexcept;

/// Appends the body. `message` may contain any bytes; those that are not UTF-8
/// are shown as question marks.
void append_problem(std::string_view name, std::string_view message,
                    std::string& out);

} // namespace weir::wire
