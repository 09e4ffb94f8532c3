#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>

namespace weir::wire {

/// Reads the body of `POST /backup`: an object with the member `directory`, an
/// absolute path.
///
/// # Errors
/// `ec::malformed` when the text is no JSON object; `ec::invalid_argument` for
/// a member that is missing, unknown, repeated or of the wrong type, and for a
/// path that is not absolute or has a zero byte.
result<std::string> parse_backup_request(std::string_view body);

} // namespace weir::wire
