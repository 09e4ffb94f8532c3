#include "apps/weir/load_settings.hpp"
#include "apps/weir/manual_page.hpp"

namespace weir::apps {

namespace {

constexpr std::string_view head =
  R"(# Every option of Weir with its default.
#
# An option has one name: sync_per_host in this file is --sync-per-host as a
# flag and WEIR_SYNC_PER_HOST in the environment. Flags win over the
# environment, the environment over the file. Unknown names are errors in this
# file and as flags. A WEIR_ variable that is clearly meant for an option is an
# error, too; the log warns of others (unknown_variable). In a variable the
# parts of a list have commas between them:
# WEIR_COLLECTIONS=app.test.a,app.test.b
# An empty variable counts as not set.
# Sizes: 512B, 64KiB, 64MiB, 2GiB. Durations: 30s, 5m, 1h, 7d.
)";

constexpr size_t columns = 79;

/// Appends `text` as comment lines.
void append_comment(std::string& out, std::string_view text) {
  std::string line = "#";
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    if (line.size() + 1 + word.size() > columns) {
      out += line + "\n";
      line = "#";
    }
    line.append(" ").append(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  out += line + "\n";
}

void append_heading(std::string& out, std::string_view group) {
  auto line = "# -- " + std::string{group} + " ";
  line.resize(std::max(columns, line.size()), '-');
  out += "\n" + line + "\n";
}

/// What follows the meaning. The example shows the form of a text.
std::string details(const option& x) {
  std::string out;
  if (x.range || x.real_range || x.kind == value_kind::choice)
    out = "Must be " + x.requirement() + ".";
  if (!x.example.empty())
    out = "Example: "
          + (x.kind == value_kind::list
               ? to_toml(x.kind, std::vector{std::string{x.example}})
               : quoted(x.example));
  return out;
}

} // namespace

std::string make_reference(const loaded_settings& x) {
  std::string out{head};
  std::string_view group;
  for (const auto& each : all_options()) {
    if (each.group != group)
      append_heading(out, group = each.group);
    out += "\n";
    append_comment(out, each.meaning);
    if (const auto more = details(each); !more.empty())
      append_comment(out, more);
    if (const auto found = x.origins.find(&each); found != x.origins.end())
      append_comment(out, "From " + found->second + ".");
    out += std::string{each.name} + " = "
           + to_toml(each.kind, each.get(x.values)) + "\n";
  }
  return out;
}

} // namespace weir::apps
