#pragma once

#include "apps/weir/option_value.hpp"
#include "apps/weir/settings.hpp"
#include "base/option_range.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weir::apps {

/// One option of a node, for flags, environment, file, reference and help
/// alike: `sync_per_host` in a file is `--sync-per-host` and
/// `WEIR_SYNC_PER_HOST`.
struct option {
  std::string_view name;
  value_kind kind = value_kind::text;
  std::string_view group;   ///< Heading in the reference and in help.
  std::string_view meaning; ///< One or two sentences, with the unit.
  std::string_view example; ///< One value as text; empty to show the default.
  std::optional<limits::option_range<int64_t>> range;
  std::optional<limits::option_range<double>> real_range;
  std::span<const std::string_view> words; ///< The words of a choice.
  std::string_view form; ///< The form of a text or a list element.
  std::function<option_value(const settings&)> get;
  /// Sets a value of this kind. `ec::invalid_argument` when it is out of range.
  std::function<result<void>(settings&, const option_value&)> set;

  /// `--sync-per-host`.
  std::string flag() const;

  /// `WEIR_SYNC_PER_HOST`.
  std::string variable() const;

  /// What a value must be, such as "a whole number from 1 to 64".
  std::string requirement() const;
};

/// All options, by group. Static lifetime.
std::span<const option> all_options();

/// Finds an option by its name in a file; null when there is none.
const option* find_option(std::string_view name);

} // namespace weir::apps
