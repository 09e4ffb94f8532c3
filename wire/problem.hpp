#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>

/// Errors as HTTP clients see them: `{"error": Name, "message": sentence}`
/// (api.md, Errors).
namespace weir::wire {

/// How an error is called outside.
struct problem_kind {
  int status = 500; ///< HTTP.
  std::string_view name;
};

problem_kind kind_of(ec code) noexcept;

/// Appends the body. `message` may hold any bytes; what is not UTF-8 is shown
/// as question marks.
void append_problem(std::string_view name, std::string_view message,
                    std::string& out);

} // namespace weir::wire
