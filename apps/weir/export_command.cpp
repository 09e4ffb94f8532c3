#include "apps/weir/commands.hpp"
#include "apps/weir/stop_signal.hpp"
#include "base/clock.hpp"
#include "base/printable.hpp"
#include "storage/disk/partition_stores.hpp"
#include "storage/log/leveldb_store.hpp"
#include "storage/log/log_blocks.hpp"
#include "storage/log/operation_copy.hpp"
#include "storage/segments/export_mark.hpp"
#include "storage/segments/segment_store.hpp"
#include "storage/tables/chain_table.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>
#include <set>

namespace weir::apps {

namespace {

struct exported {
  storage::copy_counts counts;
  std::set<atproto::did> left_out; ///< Repos that were erased.
};

/// Exports the log of one partition. A repo that was erased once is left out:
/// what it wrote before is gone, and with it the beginnings of its streams.
result<void> export_partition(storage::database& db,
                              storage::operation_store& to, stop_signal& stop,
                              exported& out) {
  const auto whole_from = storage::log_whole_from(db);
  if (!whole_from)
    return whole_from.error();
  if (*whole_from > 1)
    return fail(ec::invalid_argument,
                "the log was trimmed (log_retention), so its streams have no "
                "beginning; only a whole log can be exported");
  const auto from = storage::leveldb_store::open(db, system_clock());
  const auto names = storage::collection_table::load(db);
  if (!from || !names)
    return from ? names.error() : from.error();
  storage::copy_options how;
  how.cancelled = [&stop] {
    return stop.requested();
  };
  how.target = [&](const atproto::did& repo)
    -> result<storage::operation_store*> {
    const auto chain = storage::load_chain(db, **names, repo);
    if (!chain)
      return chain.error();
    if (!*chain || (*chain)->erased_through == 0)
      return &to;
    out.left_out.insert(repo);
    return nullptr;
  };
  const auto copied = storage::copy_operations(**from, how);
  if (!copied)
    return copied.error();
  out.counts.transactions += copied->transactions;
  out.counts.operations += copied->operations;
  out.counts.left_out += copied->left_out;
  return {};
}

result<exported> export_log(const std::string& from, const std::string& to,
                            stop_signal& stop) {
  storage::database_options where;
  where.directory = from;
  where.access = storage::access_mode::read_only;
  const auto stores = storage::open_partition_stores(where, 0);
  if (!stores)
    return stores.error();
  storage::segment_options how;
  how.directory = to;
  // An owner cuts a torn end off, which must not happen to another export.
  std::error_code ignored;
  if (std::filesystem::exists(to, ignored)
      && !std::filesystem::is_empty(to, ignored))
    return fail(ec::invalid_argument,
                to + " has files already; choose a new directory");
  const auto target = storage::segment_store::open(how, system_clock());
  if (!target)
    return target.error();
  exported out;
  for (const auto& db : *stores)
    if (auto ok = export_partition(*db, **target, stop, out); !ok)
      return ok.error();
  if (auto ok = (*target)->sync(); !ok)
    return ok.error();
  if (auto ok = storage::mark_complete(storage::posix_disk(), to,
                                       (*target)->last_id());
      !ok)
    return ok.error();
  return out;
}

void print(const exported& x) {
  std::cout << "transactions: " << x.counts.transactions << "\n"
            << "operations: " << x.counts.operations << "\n"
            << "operations left out: " << x.counts.left_out << "\n"
            << "repos left out: " << x.left_out.size() << std::endl;
  if (!x.left_out.empty())
    std::cerr << "weir: repos that were removed, or whose account was deleted, "
                 "since they were first known are left out\n";
}

} // namespace

void add_export(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
    "export", "Write the log of a data directory that no node is using as "
              "files that other programs can read, and `weir import` too");
  auto from = std::make_shared<std::string>();
  auto to = std::make_shared<std::string>();
  command->add_option("DIR", *from, "Data directory")->required();
  command
    ->add_option("TO", *to,
                 "Directory for the files; a new or an empty one")
    ->required();
  command->callback([from, to, &status] {
    stop_signal stop;
    const auto done = export_log(*from, *to, stop);
    if (done)
      print(*done);
    else
      std::cerr << "weir: cannot export: " << printable(done.error().context)
                << "\n";
    status = done ? all_good : refused;
  });
}

} // namespace weir::apps
