#include "apps/weir/commands.hpp"
#include "apps/weir/host_check.hpp"
#include "base/printable.hpp"
#include "storage/disk/partition_stores.hpp"

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include <algorithm>
#include <iostream>

namespace weir::apps {

namespace {

namespace json = boost::json;

struct verify_flags {
  std::string directory;
  std::string against;
  std::string directory_url;
  bool as_json = false;
  bool strict = false;
  bool full_network = false;
};

/// Prints one line for each finding.
/// @param label Replaces the invariant, unless it is empty.
void print_lines(const std::vector<storage::verify_finding>& list,
                 std::string_view label = {}) {
  for (const auto& each : list)
    std::cout << (label.empty() ? each.invariant : label) << "  "
              << printable(each.where) << "  " << printable(each.sentence)
              << "\n";
}

void print_text(const host_check_report& x) {
  print_lines(x.findings);
  if (x.findings_total > x.findings.size())
    std::cout << "... and " << x.findings_total - x.findings.size()
              << " more\n";
  print_lines(x.newer, "newer at the host");
  print_lines(x.unfinished);
  for (const auto& [what, count] : x.counts)
    std::cout << what << ": " << count << "\n";
  std::cout << (x.findings_total == 0
                  ? std::string{"good"}
                  : std::to_string(x.findings_total) + " findings");
  for (const auto* apart :
       {"newer at the host", "not fetched yet", "gone at the host"})
    if (const auto found = x.counts.find(apart); found != x.counts.end())
      std::cout << ", " << found->second << " " << apart;
  std::cout << std::endl;
}

json::array to_json(const std::vector<storage::verify_finding>& x) {
  json::array out;
  for (const auto& each : x)
    out.push_back({{"invariant", each.invariant},
                   {"where", each.where},
                   {"sentence", each.sentence}});
  return out;
}

void print_json(const host_check_report& x) {
  json::object counts;
  for (const auto& [what, count] : x.counts)
    counts[what] = count;
  const json::object out{
    {"good", x.findings_total == 0},       {"findings_total", x.findings_total},
    {"findings", to_json(x.findings)},     {"newer", to_json(x.newer)},
    {"unfinished", to_json(x.unfinished)}, {"counts", counts}};
  std::cout << printable_json(json::serialize(out)) << std::endl;
}

/// Puts findings about the store itself first.
void merge(host_check_report& to, storage::verify_report from) {
  to.findings.insert(to.findings.begin(), from.findings.begin(),
                     from.findings.end());
  to.findings_total += from.findings_total;
  for (const auto& [what, count] : from.counts)
    to.counts[what] += count;
}

/// A report, and how many of its findings come from the store alone.
struct checked_store {
  host_check_report report;
  uint64_t own_findings = 0;
};

bool says_not_compared(const storage::verify_finding& x) {
  return x.sentence.find("cannot be compared") != std::string::npos;
}

/// Prints to standard error, so that standard output has only the report.
void print_remedy(const checked_store& x) {
  if (x.own_findings > 0)
    std::cerr << "weir: this store is damaged: restore a backup, or begin with "
                 "an empty data_dir, which is filled from the network\n";
  else if (!x.report.findings.empty()
           && std::all_of(x.report.findings.begin(), x.report.findings.end(),
                          says_not_compared))
    std::cerr
      << "weir: the store is sound, and that host does not answer as one "
         "to compare it with: try again, or with another --against\n";
  else if (x.report.findings_total > 0)
    std::cerr << "weir: the store is sound and differs from that host: a "
                 "running node repairs what its streams and listings show, and "
                 "\"weir repos resync DID\" fetches a repo again\n";
}

/// Collection names may be damaged, too, so they are not read before.
result<storage::verify_report> check_stores(const std::string& data_dir) {
  storage::database_options where;
  where.directory = data_dir;
  where.access = storage::access_mode::read_only;
  const auto stores = storage::open_partition_stores(where, 0);
  return stores ? storage::verify_stores(*stores) : stores.error();
}

result<checked_store> check(const verify_flags& flags) {
  auto store = check_stores(flags.directory);
  if (!store)
    return store.error();
  const auto own = store->findings_total;
  if (flags.against.empty()) {
    host_check_report out;
    merge(out, std::move(*store));
    return checked_store{std::move(out), own};
  }
  const auto stores = closed_stores::open(flags.directory);
  if (!stores)
    return stores.error();
  const auto web = web_client::make();
  host_check_options host;
  host.origin = flags.against;
  host.directory = flags.directory_url;
  host.strict = flags.strict;
  host.full_network = flags.full_network;
  auto compared = check_against_host(*stores, *web, host);
  if (!compared)
    return compared.error();
  merge(*compared, std::move(*store));
  return checked_store{std::move(*compared), own};
}

int verify(const verify_flags& flags) {
  for (const auto& [name, url] : {std::pair{"--against", flags.against},
                                  std::pair{"--plc-url", flags.directory_url}})
    if (!url.empty() && !net::parse_url(url)) {
      std::cerr << "weir: " << name << " " << url << " is not a URL\n";
      return refused;
    }
  const auto done = check(flags);
  if (!done) {
    std::cerr << "weir: cannot verify: " << printable(done.error().context)
              << "\n";
    return refused;
  }
  if (flags.as_json)
    print_json(done->report);
  else
    print_text(done->report);
  print_remedy(*done);
  return done->report.findings_total == 0 ? all_good : failed;
}

} // namespace

void add_verify(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
    "verify", "Check a store that no node is using: its log, its hashes, and "
              "that all tables agree");
  auto flags = std::make_shared<verify_flags>();
  command->add_option("DIR", flags->directory, "Data directory")->required();
  auto* against
    = command
        ->add_option("--against", flags->against,
                     "Compare every repo, and the accounts, with this PDS or "
                     "relay, too")
        ->type_name("URL");
  command
    ->add_option("--plc-url", flags->directory_url,
                 "With --against: look up the key of a repo that the key known "
                 "here does not prove, and whether a tombstone still stands")
    ->type_name("URL")
    ->needs(against);
  command->add_flag("--json", flags->as_json, "Print JSON");
  command
    ->add_flag("--strict", flags->strict,
               "With --against: what is newer at the host than what the node "
               "claims to know, and what it has not fetched yet, is a finding, "
               "too")
    ->needs(against);
  command
    ->add_flag("--full-network", flags->full_network,
               "With --against: the node follows every account, so one that is "
               "not known here is a finding")
    ->needs(against);
  command->callback([flags, &status] {
    status = verify(*flags);
  });
}

} // namespace weir::apps
