#include "apps/weir/command_tree.hpp"

#include <algorithm>
#include <sstream>

namespace weir::apps {

namespace {

/// CLI11 writes this between the kind of a value and its bounds.
constexpr std::string_view range_mark = " in [";

bool is_word(std::string_view x) {
  return !x.empty() && std::ranges::none_of(x, [](char c) {
    return (c >= 'A' && c <= 'Z') || c == ':' || c == ',';
  });
}

} // namespace

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* x) {
    return !x->get_name().empty();
  });
}

std::vector<const CLI::App*> all_commands(const CLI::App& app) {
  std::vector<const CLI::App*> out{&app};
  for (const auto* x : subcommands_of(app))
    for (const auto* each : all_commands(*x))
      out.push_back(each);
  return out;
}

std::string path_of(const CLI::App& app) {
  const auto* parent = app.get_parent();
  return (parent == nullptr ? "" : path_of(*parent) + " ") + app.get_name();
}

std::string value_of(const CLI::Option& x) {
  if (x.get_items_expected_max() == 0 || x.get_items_expected_min() == 0)
    return "";
  const auto type = x.get_type_name();
  const auto kind = type.substr(0, type.find(':'));
  if (type == "TEXT" && x.get_positional())
    return x.get_name(true);
  if (kind == "UINT" || kind == "INT" || kind == "FLOAT")
    return "N";
  return type;
}

std::string bounds_of(const CLI::Option& x) {
  auto out = x.get_type_name();
  const auto begin = out.find(range_mark);
  if (begin == std::string::npos)
    return "";
  out = out.substr(begin + range_mark.size());
  out.erase(std::min(out.find(']'), out.size()));
  const auto middle = out.find(" - ");
  return middle == std::string::npos ? out : out.replace(middle, 3, " to ");
}

std::vector<std::string> choices_of(const CLI::Option& x) {
  std::vector<std::string> out;
  std::istringstream left{value_of(x)};
  for (std::string word; std::getline(left, word, '|');)
    out.push_back(word);
  return std::ranges::all_of(out, is_word) ? out : std::vector<std::string>{};
}

} // namespace weir::apps
