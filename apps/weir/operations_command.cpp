#include "actors/api/operation_views.hpp"
#include "apps/weir/closed_log.hpp"
#include "apps/weir/commands.hpp"
#include "base/printable.hpp"

#include <CLI/CLI.hpp>

#include <iostream>

namespace weir::apps {

namespace {

struct stream_flags {
  std::string directory;
  std::string repo;
  std::string scope;
  std::optional<uint64_t> index;
  std::optional<uint64_t> after;
  std::optional<int64_t> since_ms;
  uint64_t limit = UINT64_MAX;
};

void print(const storage::stored_operation& x) {
  std::string line;
  wire::append_operation(actors::view_of(x.id, x), line);
  std::cout << printable_json(line) << "\n";
}

result<storage::operation_page>
read_page(const storage::operation_store& from,
                                 const storage::stream_name& stream,
                                 const stream_flags& flags,
                                 std::optional<uint64_t> after,
                                 const storage::read_bounds& bounds) {
  return flags.since_ms
           ? from.get_since_time(stream, *flags.since_ms, after, bounds)
           : from.get_since(stream, after, bounds);
}

result<void> print_stream(const stream_flags& flags) {
  const auto repo = atproto::did::parse(flags.repo);
  if (!repo)
    return repo.error();
  const auto log = closed_log::open(flags.directory, *repo);
  if (!log)
    return log.error();
  const storage::stream_name stream{*repo, flags.scope};
  if (flags.index) {
    const auto found = log->store().get(stream, *flags.index);
    if (!found)
      return found.error();
    if (!*found)
      return fail(ec::not_found, "the stream has no such operation");
    print(**found);
    return {};
  }
  auto after = flags.after;
  auto left = flags.limit;
  for (bool more = true; more && left > 0;) {
    storage::read_bounds bounds;
    bounds.ops_max = std::min<uint64_t>(bounds.ops_max, left);
    const auto page = read_page(log->store(), stream, flags, after, bounds);
    if (!page)
      return page.error();
    for (const auto& x : page->found)
      print(x);
    left -= page->found.size();
    more = page->more;
    after = page->through;
  }
  return {};
}

struct header_flags {
  std::string directory;
  std::string repo;
  uint64_t commits = UINT64_MAX;
};

result<void> print_header(const header_flags& flags) {
  const auto repo = atproto::did::parse(flags.repo);
  if (!repo)
    return repo.error();
  const auto log = closed_log::open(flags.directory, *repo);
  if (!log)
    return log.error();
  const auto header = log->store().get_header(*repo, flags.commits);
  if (!header)
    return header.error();
  if (!*header)
    return fail(ec::not_found,
                "nothing was known of the account then");
  std::cout << "handle: " << printable((*header)->handle) << "\n"
            << "account: " << to_string((*header)->account) << "\n"
            << "as of operation: " << (*header)->as_of << std::endl;
  return {};
}

int end_of(const result<void>& done) {
  if (done)
    return all_good;
  std::cerr << "weir: cannot read: " << printable(done.error().context)
            << "\n";
  return refused;
}

} // namespace

void add_operations(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
    "operations", "Print a stream of a repo, from a data directory that no "
                  "node is using or from an export: a line of JSON for each "
                  "operation");
  auto flags = std::make_shared<stream_flags>();
  command->add_option("DIR", flags->directory, "Data directory, or export")
    ->required();
  command->add_option("DID", flags->repo, "The repo")->required();
  command
    ->add_option("SCOPE", flags->scope,
                 "A collection, or '$commit', '$identity', '$account'")
    ->required();
  auto* index = command->add_option("--index", flags->index,
                                    "Only the operation with this index");
  auto* after = command->add_option("--after", flags->after,
                                    "Only operations after this index");
  auto* since
    = command->add_option("--since", flags->since_ms,
                          "Only operations of this time or later, in "
                          "milliseconds since 1970");
  auto* limit = command->add_option("--limit", flags->limit,
                                    "At most this many operations");
  index->excludes(after)->excludes(since)->excludes(limit);
  command->callback([flags, &status] {
    status = end_of(print_stream(*flags));
  });
}

void add_header(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
    "header", "Print what was known of an account, from a data directory that "
              "no node is using or from an export");
  auto flags = std::make_shared<header_flags>();
  command->add_option("DIR", flags->directory, "Data directory, or export")
    ->required();
  command->add_option("DID", flags->repo, "The repo")->required();
  command->add_option("--commits", flags->commits,
                      "When it had this many commits; without it, last");
  command->callback([flags, &status] {
    status = end_of(print_header(*flags));
  });
}

} // namespace weir::apps
