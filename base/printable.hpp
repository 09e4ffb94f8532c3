#pragma once

#include <string>
#include <string_view>

namespace weir {

/// Appends foreign text so that a terminal only displays it. Control characters
/// (C0, C1), characters that change the direction of text or end a line, and
/// bytes that are not UTF-8 become `\u` and four hex digits.
void append_printable(std::string& out, std::string_view text);

std::string printable(std::string_view text);

/// The same for a JSON text, which stays JSON with the same meaning. Bytes that
/// are not UTF-8, which JSON cannot hold, become U+FFFD.
/// @pre The JSON is compact: no line ends or tabs between its values.
std::string printable_json(std::string_view text);

} // namespace weir
