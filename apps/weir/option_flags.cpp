#include "apps/weir/option_flags.hpp"

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
    case value_kind::choice: {
      std::string out;
      for (const auto& word : x.words)
        out.append(out.empty() ? "" : "|").append(word);
      return out;
    }
    default:
      return std::string{x.form};
  }
}

} // namespace

struct option_flags::impl {
  struct flag {
    const option* to = nullptr;
    CLI::Option* seen = nullptr;
    std::string text;               ///< The text of a single value.
    std::vector<std::string> texts; ///< The texts of a list.
  };

  void add(CLI::App& command, const option& x) {
    auto& slot = flags.emplace_back(std::make_unique<flag>());
    slot->to = &x;
    const std::string meaning{x.meaning};
    if (x.kind == value_kind::boolean) {
      slot->seen = command.add_flag(x.flag(), slot->text, meaning);
    } else if (x.kind == value_kind::list) {
      slot->seen = command.add_option(x.flag(), slot->texts, meaning);
      slot->seen->expected(1)->multi_option_policy(
        CLI::MultiOptionPolicy::TakeAll);
    } else {
      slot->seen = command.add_option(x.flag(), slot->text, meaning);
    }
    if (x.kind != value_kind::boolean)
      slot->seen->type_name(value_name(x));
    slot->seen->group(std::string{x.group});
  }

  std::string config;
  CLI::Option* config_seen = nullptr;
  std::vector<std::unique_ptr<flag>> flags;
};

option_flags::option_flags(CLI::App& command, const std::string& config_names)
  : impl_(std::make_unique<impl>()) {
  impl_->config_seen = command.add_option(
    config_names, impl_->config,
    "File with options; weir config print shows them all.");
  impl_->config_seen->type_name("FILE");
  for (const auto& x : all_options())
    impl_->add(command, x);
}

option_flags::~option_flags() = default;

flag_values option_flags::values() const {
  flag_values out;
  if (impl_->config_seen->count() > 0)
    out.config = impl_->config;
  for (const auto& x : impl_->flags) {
    if (x->seen->count() == 0)
      continue;
    out.given[x->to]
      = x->to->kind == value_kind::list ? x->texts : std::vector{x->text};
  }
  return out;
}

} // namespace weir::apps
