#include "apps/weir/option_flags.hpp"

#include "base/joined.hpp"

#include <CLI/CLI.hpp>

namespace weir::apps {

namespace {

/// The name of the value in help.
std::string value_name(const option& x) {
  switch (x.kind) {
    case value_kind::number:
    case value_kind::real:
      return "N";
    case value_kind::size:
      return "SIZE";
    case value_kind::duration:
      return "TIME";
    case value_kind::choice:
      return joined(x.words, "|");
    default:
      return std::string{x.form};
  }
}

} // namespace

void option_flags::add(CLI::App& command, const option& x) {
  auto& slot = flags_.emplace_back();
  slot.to = &x;
  const std::string meaning{x.meaning};
  if (x.kind == value_kind::boolean)
    slot.seen = command.add_flag(x.flag(), slot.text, meaning);
  else if (x.kind == value_kind::list)
    slot.seen = command.add_option(x.flag(), slot.texts, meaning)
                  ->expected(1)
                  ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  else
    slot.seen = command.add_option(x.flag(), slot.text, meaning);
  if (x.kind != value_kind::boolean)
    slot.seen->type_name(value_name(x));
  slot.seen->group(std::string{x.group});
}

option_flags::option_flags(CLI::App& command, const std::string& config_names) {
  config_seen_ = command.add_option(
    config_names, config_,
    "File with options; weir config print shows them all.");
  config_seen_->type_name("FILE");
  for (const auto& x : all_options())
    add(command, x);
}

flag_values option_flags::values() const {
  flag_values out;
  if (config_seen_->count() > 0)
    out.config = config_;
  for (const auto& x : flags_)
    if (x.seen->count() > 0)
      out.given[x.to]
        = x.to->kind == value_kind::list ? x.texts : std::vector{x.text};
  return out;
}

} // namespace weir::apps
