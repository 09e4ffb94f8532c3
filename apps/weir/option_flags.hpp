#pragma once

#include "apps/weir/load_settings.hpp"

#include <memory>

namespace CLI {
class App;
} // namespace CLI

namespace weir::apps {

/// `--config` and one flag for every option, on one command.
///
/// # Ownership
/// The command line writes into this object while it parses: keep both.
class option_flags {
public:
  /// @param config_names Of the option for the file, as CLI11 reads them.
  explicit option_flags(CLI::App& command,
                        const std::string& config_names = "--config");
  ~option_flags();

  option_flags(const option_flags&) = delete;
  option_flags& operator=(const option_flags&) = delete;

  /// What was on the command line. After it was parsed.
  flag_values values() const;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace weir::apps
