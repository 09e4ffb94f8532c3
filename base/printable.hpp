#pragma once

#include <string>
#include <string_view>

namespace weir {

/// Adds text of others so that a terminal shows it and does nothing else:
/// control characters (C0, C1), those that turn the direction of text or end a
/// line, and bytes that are no UTF-8 become `\u` and four hex digits.
void append_printable(std::string& out, std::string_view text);

std::string printable(std::string_view text);

/// The same of a JSON text: it stays JSON and means the same. Bytes that are no
/// UTF-8, which JSON cannot hold, become U+FFFD.
/// @pre It is compact: no ends of lines or tabs between its values.
std::string printable_json(std::string_view text);

} // namespace weir
