#include "apps/weir/command_tree.hpp"
#include "apps/weir/manual_page.hpp"
#include "base/joined.hpp"

#include <map>

namespace weir::apps {

namespace {

/// What bash offers as the value of an option.
std::string offer(const CLI::Option& x) {
  if (const auto words = choices_of(x); !words.empty())
    return "_weir_words \"" + joined(words, " ") + "\"";
  const auto value = value_of(x);
  if (value == "FILE")
    return "_weir_names -f";
  if (value == "DIR" || value == "DIRECTORY" || value == "TO")
    return "_weir_names -d";
  return ":"; // Only the user knows it.
}

/// One branch of a `case`.
std::string branch(const std::vector<std::string>& patterns,
                   const std::string& action) {
  std::string all;
  for (const auto& x : patterns)
    all += (all.empty() ? "\"" : " | \\\n    \"") + x + "\"";
  return "    " + all + ")\n      " + action + " ;;\n";
}

/// The words that are commands, which lead one level down.
std::string steps(const CLI::App& app) {
  std::vector<std::string> paths;
  for (const auto* x : all_commands(app))
    if (x != &app)
      paths.push_back(path_of(*x));
  return branch(paths, "path=\"$path $word\"");
}

/// The flags with values, grouped by what is offered for them.
std::string values(const CLI::App& app) {
  std::map<std::string, std::vector<std::string>> by_offer;
  for (const auto* command : all_commands(app))
    for (const auto* x : command->get_options())
      if (!x->get_positional() && !value_of(*x).empty())
        for (const auto& name : x->get_lnames())
          by_offer[offer(*x)].push_back(path_of(*command) + " --" + name);
  std::string out;
  for (const auto& [action, patterns] : by_offer)
    out += branch(patterns, action + "; return");
  return out;
}

/// The words that may follow each command.
std::string words_after(const CLI::App& app) {
  std::string out;
  for (const auto* command : all_commands(app)) {
    std::string flags;
    std::string rest;
    for (const auto* x : command->get_options()) {
      for (const auto& name : x->get_lnames())
        flags += " --" + name;
      if (x->get_positional())
        rest = "; " + offer(*x);
    }
    for (const auto* x : subcommands_of(*command))
      flags += " " + x->get_name();
    out += branch({path_of(*command)},
                  "_weir_words \"" + flags.substr(1) + "\"" + rest);
  }
  return out;
}

constexpr std::string_view script_head
  = R"(# Completion for weir in bash. Made by the program itself: weir completion bash

_weir_words() {
  local found
  mapfile -t found < <(compgen -W "$1" -- "$current")
  COMPREPLY+=("${found[@]}")
}

_weir_names() {
  local found
  mapfile -t found < <(compgen "$1" -- "$current")
  COMPREPLY+=("${found[@]}")
  compopt -o filenames 2> /dev/null
}

_weir() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local path=weir word
  COMPREPLY=()
  # --flag=value arrives as three words.
  if [[ $current == "=" ]]; then
    current=""
  elif [[ $before == "=" ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    case "$path $word" in
)";

constexpr std::string_view after_steps = R"(    esac
  done
  case "$path $before" in
)";

constexpr std::string_view after_values = R"(  esac
  case "$path" in
)";

constexpr std::string_view script_end = R"(  esac
}

complete -F _weir weir
)";

} // namespace

std::string make_bash_completion(const CLI::App& app) {
  return std::string{script_head} + steps(app) + std::string{after_steps}
         + values(app) + std::string{after_values} + words_after(app)
         + std::string{script_end};
}

} // namespace weir::apps
