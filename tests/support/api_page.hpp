#pragma once

#include "tests/support/vectors.hpp"

#include <map>
#include <sstream>
#include <string>

/// docs/api.md, in the form in which the tests compare it with the code.
namespace weir::tests {

inline std::string api_page() {
  return read_file(data_path("../../docs/api.md"));
}

/// The text that follows each heading of the third level, up to the next
/// heading. The heading of a route is its method and pattern in backquotes.
inline std::map<std::string, std::string> api_sections() {
  std::map<std::string, std::string> out;
  std::istringstream lines{api_page()};
  std::string* section = nullptr;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("### `") && line.ends_with('`'))
      section = &out[line.substr(5, line.size() - 6)];
    else if (line.starts_with('#'))
      section = nullptr;
    else if (section != nullptr)
      *section += line + '\n';
  }
  return out;
}

} // namespace weir::tests
