#include "apps/weir/foreign_variables.hpp"

#include "apps/weir/option_table.hpp"
#include "base/joined.hpp"
#include "base/log.hpp"
#include "base/nearest.hpp"

#include <algorithm>
#include <array>

namespace weir::apps {

namespace {

constexpr std::string_view own_prefix = "WEIR_";
constexpr std::string_view tap_prefix = "TAP_";

/// Variables that the program reads although they are no options.
constexpr std::array<std::string_view, 3> read_elsewhere{
  "WEIR_CONFIG", "WEIR_CRASH_AT", "WEIR_THROW_AT"};

struct other_name {
  std::string_view theirs; ///< The part after WEIR_ or TAP_.
  std::string_view ours;   ///< Name of the option.
  std::string_view value;  ///< The form of its value, if it differs.
};

/// Tap's names for our options, and names that people guess. Equal names need
/// no entry.
constexpr other_name other_names[]{
  {"ADMIN_PASSWORD", "admin_password_file", "FILE"},
  {"PASSWORD", "admin_password_file", "FILE"},
  {"PASSWORD_FILE", "admin_password_file", "FILE"},
  {"RELAY_URL", "upstream", "relay:URL"},
  {"RELAY", "upstream", "relay:URL"},
  {"RELAYS", "upstream", "relay:URL"},
  {"PDS", "upstream", "pds:URL"},
  {"HOSTS", "upstream", "relay:URL"},
  {"PLC", "plc_url", "URL"},
  {"PLC_DIRECTORY", "plc_url", "URL"},
  {"DATABASE_URL", "data_dir", "DIRECTORY"},
  {"DATABASE", "data_dir", "DIRECTORY"},
  {"DATA", "data_dir", "DIRECTORY"},
  {"PORT", "bind", "ADDRESS:PORT"},
  {"LISTEN", "bind", "ADDRESS:PORT"},
  {"METRICS_LISTEN", "operations_bind", "ADDRESS:PORT"},
  {"FULL_NETWORK", "mode", "full-network"},
  {"COLLECTION_FILTERS", "collections", "NSID,..."},
  {"COLLECTION_FILTER", "collections", "NSID,..."},
  {"FILTERS", "collections", "NSID,..."},
  {"FILTER", "collections", "NSID,..."},
  {"DISABLE_ACKS", "consumer_disable_acks", ""},
  {"RETRY_TIMEOUT", "consumer_retry", ""},
  {"RESYNC_PARALLELISM", "sync_parallelism", ""},
  {"MEMORY", "memory_limit", "SIZE"},
};

const other_name* find_other_name(std::string_view theirs) {
  const auto* x = std::ranges::find(other_names, theirs, &other_name::theirs);
  return x == std::end(other_names) ? nullptr : x;
}

/// Variables that Kubernetes and container links make from the name of a
/// service. A service `weir` gives WEIR_SERVICE_HOST,
/// WEIR_PORT=tcp://10.0.0.1:2480, WEIR_PORT_2480_TCP_ADDR.
bool is_of_a_cluster(std::string_view name, std::string_view value) {
  return name.find("_SERVICE_HOST") != std::string_view::npos
         || name.find("_SERVICE_PORT") != std::string_view::npos
         || name.find("_PORT_") != std::string_view::npos
         || (name.ends_with("_PORT")
             && value.find("://") != std::string_view::npos);
}

/// Our variables that differ only by a typing error.
std::vector<std::string> nearly(std::string_view name) {
  constexpr size_t slips_max = 2;
  std::vector<std::string> out;
  for (const auto& x : all_options())
    if (edit_distance(name, x.variable()) <= slips_max)
      out.push_back(x.variable());
  return out;
}

std::string hint_of_tap(std::string_view theirs) {
  const auto* other = find_other_name(theirs);
  const auto same = std::ranges::find_if(all_options(), [&](const option& x) {
    return other != nullptr ? x.name == other->ours
                            : x.variable().substr(own_prefix.size()) == theirs;
  });
  if (same == all_options().end())
    return "Weir does not read the variables of Tap, and no option of it means "
           "the same";
  const auto value = other == nullptr ? std::string_view{} : other->value;
  return "Weir does not read the variables of Tap; its option "
         + std::string{same->name} + " means the same: set " + same->variable()
         + (value.empty() ? "" : "=" + std::string{value});
}

constexpr auto hint_of_unknown = "these are no options of Weir and are "
                                 "ignored; weir config print lists all options";

} // namespace

void foreign_variables::add(std::string_view name, std::string_view value) {
  if (name.starts_with(tap_prefix)) {
    tap.push_back(
      {std::string{name}, hint_of_tap(name.substr(tap_prefix.size()))});
    return;
  }
  if (std::ranges::find(read_elsewhere, name) != read_elsewhere.end()
      || is_of_a_cluster(name, value))
    return;
  auto meant = nearly(name);
  if (const auto* x = find_other_name(name.substr(own_prefix.size())))
    meant = {find_option(x->ours)->variable()};
  for (const auto& x : meant)
    problems.push_back("unknown variable " + std::string{name}
                       + "; did you mean " + x + "?");
  if (meant.empty())
    unknown.emplace_back(name);
}

void warn_of(const foreign_variables& x) {
  if (!x.unknown.empty())
    log::warn("unknown_variable",
              {{"variables", joined(x.unknown)}, {"hint", hint_of_unknown}});
  for (const auto& each : x.tap)
    log::warn("tap_variable", {{"variable", each.name}, {"hint", each.hint}});
}

std::vector<std::string> sentences_of(const foreign_variables& x) {
  std::vector<std::string> out;
  if (!x.unknown.empty())
    out.push_back(joined(x.unknown) + ": " + hint_of_unknown);
  for (const auto& each : x.tap)
    out.push_back(each.name + ": " + each.hint);
  return out;
}

} // namespace weir::apps
