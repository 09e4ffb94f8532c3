#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::apps {

/// A variable of Tap that is set, and what to do instead.
struct tap_variable {
  std::string name;
  std::string hint;
};

/// Environment variables that look like options but are none, for example Tap's
/// names or guessed names. They have no effect, so each one is reported.
struct foreign_variables {
  /// One sentence for each that is certainly meant for one of our options.
  std::vector<std::string> problems;
  std::vector<std::string> unknown; ///< Names that begin with WEIR_.
  std::vector<tap_variable> tap;

  /// Takes a variable that is no option and sorts it into one of the three
  /// lists.
  void add(std::string_view name, std::string_view value);
};

/// Warns in the log of those that are no problem: one line for all unknown
/// names, and one for each of Tap's. Values are not shown, since one may be a
/// password.
void warn_of(const foreign_variables& x);

/// The same warnings as sentences, for commands without a log.
std::vector<std::string> sentences_of(const foreign_variables& x);

} // namespace weir::apps
