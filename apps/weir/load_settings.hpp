#pragma once

#include "apps/weir/config_file.hpp"
#include "apps/weir/foreign_variables.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::apps {

/// What the command line said; only what is present.
struct flag_values {
  std::optional<std::string> config; ///< `--config`.
  std::map<const option*, std::vector<std::string>> given;
};

/// Variables whose names begin with WEIR_ or TAP_, by name.
using environment = std::map<std::string, std::string, std::less<>>;

/// That of this process, without empty ones: those count as unset.
environment process_environment();

struct loaded_settings {
  settings values;
  /// Where a value comes from that is not the default.
  std::map<const option*, std::string> origins;
  /// Everything that is wrong, one sentence each. Do not start with any.
  std::vector<std::string> problems;
  foreign_variables others; ///< What the environment has beside options.
};

/// Takes values over those that are there; notes what is wrong.
void take_values(loaded_settings& to, given_values from);

/// Defaults, then the file (`--config` or WEIR_CONFIG), then the environment,
/// then flags; secrets from their files; and whether it all fits together. A
/// variable that is nearly an option's, or what others call one, is a problem; the
/// rest is in `others`, to be warned of.
loaded_settings load_settings(const flag_values& flags,
                              const environment& variables);

/// The password in a file, without the line break at its end.
/// `ec::invalid_argument` when its length is out of
/// `limits::admin_password_bytes_range`, or it holds control bytes.
/// @param remedy Ends what is said of a file that has none.
result<std::string> read_secret(const std::string& path,
                                std::string_view remedy);

} // namespace weir::apps
