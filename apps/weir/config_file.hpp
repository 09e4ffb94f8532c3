#pragma once

#include "apps/weir/option_table.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace weir::apps {

/// A value that somebody gave for an option, not yet checked against its
/// range.
struct given_value {
  const option* to = nullptr;
  option_value value;
  std::string where;  ///< "weir.toml:3:1: bind", "WEIR_BIND", "--bind".
  std::string shown;  ///< The value, for messages.
  std::string origin; ///< "weir.toml:3", "WEIR_BIND", "--bind".
};

/// What was given, and what is wrong with the rest: one sentence each.
struct given_values {
  std::vector<given_value> values;
  std::vector<std::string> problems;
};

/// `where = shown: must be ...`.
std::string unfit(const option& x, const std::string& where,
                  const std::string& shown);

/// Reads TOML text: names of options and their values, nothing else. All
/// problems are reported with line and column.
/// @param name Of the file, for messages.
given_values parse_config(std::string_view text, const std::string& name);

/// The same from disk, at most `limits::config_file_bytes_max`.
given_values read_config(const std::string& path);

/// Whether others may read a file.
enum class file_secrecy : uint8_t { open, secret };

/// A whole small file. `ec::not_found`, also for what is no regular file,
/// `ec::limit_reached`, and `ec::invalid_argument`, which says what to do, for one
/// that this user may not read and for a secret that others may read or change.
result<std::string> read_small_file(const std::string& path, size_t bytes_max,
                                    file_secrecy secrecy);

} // namespace weir::apps
