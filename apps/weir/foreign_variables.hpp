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

/// Variables of the environment that are no option, as whoever guesses a name or
/// comes from Tap sets them: all of them are ignored, so each is told of.
struct foreign_variables {
  /// One sentence for each that is certainly meant for one of our options.
  std::vector<std::string> problems;
  std::vector<std::string> unknown; ///< Names that begin with WEIR_.
  std::vector<tap_variable> tap;

  /// Sorts in a variable that is no option.
  void add(std::string_view name, std::string_view value);
};

/// Warns in the log of what is not a problem: one line for all unknown names, and
/// one for each of Tap's. Values are not shown, a password may be one.
void warn_of(const foreign_variables& x);

/// The same as sentences, for a command without a log.
std::vector<std::string> sentences_of(const foreign_variables& x);

} // namespace weir::apps
