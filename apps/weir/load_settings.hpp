#pragma once

#include "apps/weir/config_file.hpp"
#include "apps/weir/foreign_variables.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::apps {

/// The options on the command line; only those that are present.
struct flag_values {
  std::optional<std::string> config; ///< `--config`.
  std::map<const option*, std::vector<std::string>> given;
};

/// Environment variables whose names begin with WEIR_ or TAP_.
using environment = std::map<std::string, std::string, std::less<>>;

/// Those of this process, without empty variables, which count as unset.
environment process_environment();

struct loaded_settings {
  settings values;
  /// The source of each value that is not the default.
  std::map<const option*, std::string> origins;
  /// Everything that is wrong, one sentence each. Do not start when there is
  /// any.
  std::vector<std::string> problems;
  foreign_variables others; ///< Environment variables that are no options.
};

/// Puts values in place of those that are there, and notes errors.
void take_values(loaded_settings& to, given_values from);

/// Reads the defaults, then the file (`--config` or WEIR_CONFIG), then the
/// environment, then flags, and secrets from their files. Checks whether all
/// options fit together. A variable whose name is close to an option, or is
/// another program's name for one, is a problem; the rest is in `others`, for
/// warnings.
loaded_settings load_settings(const flag_values& flags,
                              const environment& variables);

/// Reads the password in a file, without the line break at its end.
/// `ec::invalid_argument` when its length is outside of
/// `limits::admin_password_bytes_range` or it has control bytes.
/// @param remedy Ends the message about a file without a password.
result<std::string> read_secret(const std::string& path,
                                std::string_view remedy);

} // namespace weir::apps
