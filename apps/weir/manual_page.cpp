#include "apps/weir/manual_page.hpp"

#include "apps/weir/command_tree.hpp"
#include "apps/weir/option_table.hpp"
#include "base/version.hpp"

#include <algorithm>

namespace weir::apps {

namespace {

/// A command with more flags than this refers to an earlier command with the
/// same flags instead of listing them again.
constexpr size_t listed_twice_max = 10;

/// A character that roff would not show as it is, and its escape.
using escape = std::pair<char, std::string_view>;

constexpr escape escapes[]{
  {'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"}, {'"', "\\(dq"},
  {'^', "\\(ha"}, {'~', "\\(ti"}, {'`', "\\(ga"},
};

/// Escapes text so that roff shows it unchanged.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto* x = std::ranges::find(escapes, c, &escape::first);
    if (x == std::end(escapes))
      out += c;
    else
      out += x->second;
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string bold(std::string_view text) {
  return "\\fB" + plain(text) + "\\fR";
}

std::string italic(std::string_view text) {
  return "\\fI" + plain(text) + "\\fR";
}

/// Adds a full stop when there is none.
std::string sentence(std::string text) {
  if (!text.empty() && !text.ends_with('.'))
    text += '.';
  return text;
}

std::string title(std::string_view page, int section, std::string_view about) {
  return ".\\\" Made by the program itself: weir manual\n.TH " + plain(page)
         + " " + std::to_string(section) + " \"\" \"weir " + version()
         + "\"\n.SH NAME\n" + plain(page) + " \\- " + plain(about) + "\n";
}

std::string paragraph(std::string_view text) {
  return ".PP\n" + plain(text) + "\n";
}

std::string entry(std::string_view head, const std::string& body) {
  return ".TP\n" + std::string{head} + "\n" + body + "\n";
}

std::string names_of(const CLI::Option& x) {
  std::string out;
  const auto add = [&out](const std::string& name) {
    out += (out.empty() ? "" : ", ") + bold(name);
  };
  for (const auto& name : x.get_snames())
    add("-" + name);
  for (const auto& name : x.get_lnames())
    add("--" + name);
  return out;
}

/// The description of an option with its bounds and default.
std::string explain(const CLI::Option& x) {
  auto out = plain(sentence(x.get_description()));
  if (const auto bounds = bounds_of(x); !bounds.empty())
    out += " From " + plain(bounds) + ".";
  if (!x.get_default_str().empty())
    out += " Default: " + plain(x.get_default_str()) + ".";
  return out;
}

std::string flags_of(const CLI::App& command) {
  std::string out;
  for (const auto* x : command.get_options()) {
    const auto value = value_of(*x);
    auto head = names_of(*x);
    if (!head.empty() && !value.empty())
      head += " " + italic(value);
    if (x->get_positional())
      head = italic(value) + (head.empty() ? "" : ", " + head);
    out += entry(head, explain(*x));
  }
  return out;
}

/// Names and descriptions of the flags, without positional arguments.
std::string only_flags_of(const CLI::App& command) {
  std::string out;
  for (const auto* x : command.get_options())
    if (const auto names = names_of(*x); !names.empty())
      out += names + explain(*x);
  return out;
}

std::string synopsis_of(const CLI::App& command) {
  auto out = bold(path_of(command)) + " [" + italic("OPTIONS") + "]";
  if (!subcommands_of(command).empty())
    out += " " + italic("COMMAND");
  for (const auto* x : command.get_options()) {
    if (!x->get_positional())
      continue;
    auto word = italic(value_of(*x));
    if (x->get_items_expected_max() > 1)
      word += "...";
    out += x->get_required() ? " " + word : " [" + word + "]";
  }
  return out;
}

/// The first command of `before` with the same flags, if there are many; or
/// null.
const CLI::App* same_flags(const std::vector<const CLI::App*>& before,
                           const CLI::App& command) {
  if (command.get_options().size() <= listed_twice_max)
    return nullptr;
  const auto flags = only_flags_of(command);
  for (const auto* x : before)
    if (only_flags_of(*x) == flags)
      return x;
  return nullptr;
}

std::string commands_of(const CLI::App& app) {
  std::string out;
  std::vector<const CLI::App*> before;
  for (const auto* x : all_commands(app)) {
    if (x == &app)
      continue;
    out += ".SS " + plain(path_of(*x)) + "\n" + synopsis_of(*x) + "\n"
           + paragraph(sentence(x->get_description()));
    if (const auto* same = same_flags(before, *x))
      out += ".PP\nIts flags are those of " + bold(path_of(*same)) + ".\n";
    else
      out += flags_of(*x);
    before.push_back(x);
  }
  return out;
}

std::string surroundings() {
  return ".SH EXIT STATUS\n" + entry("0", "All is well.")
         + entry("1", "It ran, and the answer is no: damage, problems, a "
                      "failure.")
         + entry("2", "It could not start: wrong flags, a wrong configuration, "
                      "no store.")
         + ".SH ENVIRONMENT\n"
         + entry(bold("WEIR_CONFIG"), "The file with options, where no "
                                        + bold("--config") + " names one.")
         + entry(bold("WEIR_") + italic("OPTION"),
                 "The value of an option, in upper case: " + bold("WEIR_BIND")
                   + ". Flags win over the environment, the environment over "
                     "the file.")
         + entry(bold("NOTIFY_SOCKET"),
                 "Where " + bold("weir run")
                   + " tells the service manager that it is ready, reads its "
                     "configuration again, or stops.")
         + ".SH SIGNALS\n"
         + entry("SIGTERM, SIGINT", "End the program; a node drains first.")
         + entry("SIGHUP",
                 "A node reads its configuration again: log level, log "
                 "format and password are taken over, the log names what needs "
                 "a restart.");
}

std::string describe(const option& x) {
  auto out = plain(x.meaning);
  if (x.kind != value_kind::text && x.kind != value_kind::list)
    out += " Must be " + plain(x.requirement()) + ".";
  if (!x.example.empty())
    out += " Example: " + plain(x.example) + ".";
  return out + "\n.br\nDefault: " + bold(to_toml(x.kind, x.get(settings{})))
         + ". As a flag: " + bold(x.flag())
         + ". Variable: " + bold(x.variable()) + ".";
}

} // namespace

std::string make_program_manual(const CLI::App& app) {
  const auto about = app.get_description();
  auto out = title("weir", 1, "a verified copy of the AT Protocol network")
             + ".SH SYNOPSIS\n" + synopsis_of(app) + "\n";
  for (const auto* x : all_commands(app))
    if (subcommands_of(*x).empty())
      out += ".br\n" + synopsis_of(*x) + "\n";
  return out + ".SH DESCRIPTION\n" + plain(about) + "\n"
         + paragraph("Every command has --help.") + flags_of(app)
         + ".SH COMMANDS\n" + commands_of(app) + surroundings()
         + ".SH SEE ALSO\n" + bold("weir.toml") + "(5)\n";
}

std::string make_config_manual() {
  auto out = title("weir.toml", 5, "the options of weir") + ".SH DESCRIPTION\n"
             + plain("A file in TOML that weir run --config reads. It names "
                     "options and their values, and nothing else; unknown "
                     "names are errors. An option that is not there has its "
                     "default.")
             + "\n"
             + paragraph("Sizes: \"512B\", \"64KiB\", \"64MiB\", \"2GiB\". "
                         "Durations: \"30s\", \"5m\", \"1h\", \"7d\".")
             + paragraph("weir config check reports everything that is wrong "
                         "with a file, weir config print shows every option "
                         "with its value.");
  std::string_view group;
  for (const auto& x : all_options()) {
    if (x.group != group)
      out += ".SH " + plain(group = x.group) + "\n";
    out += entry(bold(x.name), describe(x));
  }
  return out + ".SH SEE ALSO\n" + bold("weir") + "(1)\n";
}

} // namespace weir::apps
