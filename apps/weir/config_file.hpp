#pragma once

#include "apps/weir/option_table.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace weir::apps {

/// A value that was given for an option and is not checked against its range
/// yet.
struct given_value {
  const option* to = nullptr;
  option_value value;
  std::string where;  ///< "weir.toml:3:1: bind", "WEIR_BIND", "--bind".
  std::string shown;  ///< The value as messages show it.
  std::string origin; ///< "weir.toml:3", "WEIR_BIND", "--bind".
};

/// The values that were given, and one sentence for each error.
struct given_values {
  std::vector<given_value> values;
  std::vector<std::string> problems;
};

/// Formats `where = shown: must be ...`.
std::string unfit(const option& x, const std::string& where,
                  const std::string& shown);

/// Reads a TOML text with names of options and their values. All errors are
/// reported with line and column.
/// @param name Name of the file, for messages.
given_values parse_config(std::string_view text, const std::string& name);

/// Reads such a file of at most `limits::config_file_bytes_max` bytes.
given_values read_config(const std::string& path);

/// Whether other users may read a file.
enum class file_secrecy : uint8_t { open, secret };

/// Reads a whole small file. `ec::not_found` when it is absent or no regular
/// file, `ec::limit_reached` when it is too large, and `ec::invalid_argument`,
/// which says what to do, when this user may not read it or when others may
/// read or change a secret.
result<std::string> read_small_file(const std::string& path, size_t bytes_max,
                                    file_secrecy secrecy);

} // namespace weir::apps
