#pragma once

#include "apps/weir/load_settings.hpp"

#include <deque>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace weir::apps {

/// `--config` and one flag for every option, for one command.
///
/// # Ownership
/// The command line writes into this object while it parses, so both must live.
class option_flags {
public:
  /// @param config_names Names of the option for the file, in the form of
  /// CLI11.
  explicit option_flags(CLI::App& command,
                        const std::string& config_names = "--config");

  option_flags(const option_flags&) = delete;
  option_flags& operator=(const option_flags&) = delete;

  /// The options on the command line. Call it after parsing.
  flag_values values() const;

private:
  struct flag {
    const option* to = nullptr;
    CLI::Option* seen = nullptr;
    std::string text;               ///< The text of a single value.
    std::vector<std::string> texts; ///< The texts of a list.
  };

  void add(CLI::App& command, const option& x);

  std::string config_;
  CLI::Option* config_seen_ = nullptr;
  std::deque<flag> flags_;
};

} // namespace weir::apps
