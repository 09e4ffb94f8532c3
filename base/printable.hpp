#pragma once

#include <string>
#include <string_view>

namespace weir {

/// Adds text of others so that a terminal shows it and does nothing else:
/// control characters (C0, C1), those that turn the direction of text or end a
/// line, and bytes that are no UTF-8 become `\u` and four hex digits.
void append_printable(std::string& out, std::string_view text);

std::string printable(std::string_view text);

} // namespace weir
