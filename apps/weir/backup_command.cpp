#include "apps/weir/commands.hpp"
#include "apps/weir/limits.hpp"
#include "apps/weir/reached_node.hpp"
#include "base/clock.hpp"
#include "base/printable.hpp"
#include "storage/backup/backup_writer.hpp"
#include "storage/disk/partition_stores.hpp"
#include "storage/log/log_epochs.hpp"
#include "storage/log/transaction_writer.hpp"
#include "wire/event_numbers.hpp"

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include <filesystem>
#include <iostream>

namespace weir::apps {

namespace {

namespace json = boost::json;

struct backup_flags {
  std::string directory;
  std::string data_dir;
  std::string node = operations_port.address;
  std::string password_file;
};

/// A running node makes it.
result<storage::backup_summary> back_up_node(const backup_flags& flags) {
  const auto node
    = reach_node(flags.node, operations_port, flags.password_file);
  if (!node)
    return node.error();
  const json::object order{{"directory", flags.directory}};
  auto body = body_of(node->client->post(node->origin + "/backup",
                                         json::serialize(order),
                                         limits::backup_wait),
                      operations_port);
  if (!body && body.error().context.starts_with("the node does not answer"))
    return fail(body.error().code,
                body.error().context
                  + " The store of a node that is stopped is backed up with "
                    "--data-dir");
  if (!body)
    return body.error();
  boost::system::error_code bad;
  const auto said = json::parse(*body, bad);
  const auto* x = said.if_object();
  if (bad || x == nullptr || !x->contains("folder"))
    return fail(ec::malformed, "the node's answer is not understood: " + *body);
  const auto number = [x](const char* name) {
    const auto* value = x->if_contains(name);
    return value == nullptr ? 0 : value->to_number<uint64_t>();
  };
  storage::backup_summary out;
  out.folder = std::string{x->at("folder").as_string()};
  out.files = number("files");
  out.bytes = number("bytes");
  out.copied_bytes = number("copied_bytes");
  out.reused_files = number("reused_files");
  out.pause = std::chrono::microseconds{number("pause_us")};
  return out;
}

/// Says what is in stores that nobody writes to.
result<storage::backup_order>
order_for(const std::vector<std::unique_ptr<storage::database>>& stores) {
  storage::backup_order out;
  for (const auto& x : stores) {
    out.stores.push_back(x.get());
    const auto tail = storage::read_log_tail(*x, 0);
    if (!tail)
      return tail.error();
    out.last_operations.push_back(tail->next - 1);
  }
  const auto epochs = storage::load_log_epochs(*stores.front());
  if (!epochs)
    return epochs.error();
  std::vector<wire::id_epoch> begun;
  for (const auto& x : *epochs)
    begun.push_back({x.first, x.ahead});
  const auto& which = stores.front()->identity();
  out.log_epoch
    = wire::event_numbers{std::move(begun), which.partition, which.partitions}
        .name_of(which.log_identity);
  return out;
}

/// Nobody writes to the stores meanwhile: they are open to read only.
result<storage::backup_summary> back_up_stores(const backup_flags& flags) {
  storage::database_options where;
  where.directory = flags.data_dir;
  where.access = storage::access_mode::read_only;
  const auto stores = storage::open_partition_stores(where, 0);
  if (!stores)
    return stores.error();
  auto order = order_for(*stores);
  if (!order)
    return order.error();
  order->directory = flags.directory;
  order->data_dir = flags.data_dir;
  auto writer = storage::backup_writer::begin(
    std::move(*order), storage::posix_disk(), system_clock());
  if (!writer)
    return writer.error();
  for (;;) {
    const auto done = writer->step();
    if (!done)
      return done.error();
    if (*done)
      return writer->summary();
  }
}

/// The node has another working directory.
std::string absolute_path(const std::string& x) {
  auto out = std::filesystem::absolute(x).lexically_normal().string();
  if (out.size() > 1 && out.ends_with('/'))
    out.pop_back();
  return out;
}

int back_up(backup_flags flags) {
  flags.directory = absolute_path(flags.directory);
  const auto done
    = flags.data_dir.empty() ? back_up_node(flags) : back_up_stores(flags);
  if (!done) {
    std::cerr << "weir: cannot back up: " << printable(done.error().context)
              << "\n";
    return failed;
  }
  std::cout << printable(done->folder) << "\n"
            << done->files << " files with " << done->bytes << " bytes, of "
            << "which " << done->copied_bytes << " were copied and "
            << done->reused_files
            << " files were in the backup before; nothing was written for "
            << done->pause.count() << " microseconds" << std::endl;
  return all_good;
}

} // namespace

void add_backup(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
    "backup", "Have a running node back its stores up, or back up a data "
              "directory that no node uses");
  auto flags = std::make_shared<backup_flags>();
  command
    ->add_option("DIR", flags->directory,
                 "Directory of backups, which whoever runs the node may write")
    ->required();
  auto* node
    = command
        ->add_option("--node", flags->node,
                     std::string{"Operations address of the node, "}
                       + operations_port.address + " by default")
        ->type_name("URL");
  auto* password
    = command
        ->add_option("--admin-password-file", flags->password_file,
                     "File with the node's password")
        ->type_name("FILE");
  command
    ->add_option("--data-dir", flags->data_dir,
                 "Back this data directory up, which no node uses")
    ->type_name("DIR")
    ->excludes(node)
    ->excludes(password);
  command->callback([flags, &status] {
    status = back_up(*flags);
  });
}

} // namespace weir::apps
