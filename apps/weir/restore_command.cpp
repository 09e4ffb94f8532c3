#include "apps/weir/adoption.hpp"
#include "apps/weir/commands.hpp"
#include "base/printable.hpp"
#include "storage/backup/backup_place.hpp"
#include "storage/backup/restore.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <string>
#include <vector>

namespace weir::apps {

namespace {

using lines = std::vector<std::string>;

struct restore_flags {
  std::string backup;
  std::string data_dir;
  bool only_check = false;
};

std::string described(const std::string& folder,
                      const storage::backup_list& x) {
  return folder + " with " + std::to_string(x.files.size()) + " files and "
         + std::to_string(x.bytes()) + " bytes, of the log's epoch "
         + x.log_epoch;
}

result<lines> check(const std::string& folder) {
  const auto list = storage::check_backup(storage::posix_disk(), folder);
  if (!list)
    return list.error();
  return lines{"good: " + described(folder, *list)};
}

/// The copy is adopted before it is a store that a node would open.
result<std::string> put_back(storage::restoration& x) {
  if (auto ok = x.copy(); !ok)
    return ok.error();
  auto adopted = adopt_stores(x.folder());
  if (!adopted)
    return adopted.error();
  if (auto ok = x.complete(); !ok)
    return ok.error();
  return adopted;
}

result<lines> restore(const std::string& folder,
                            const std::string& data_dir) {
  auto x = storage::restoration::begin(storage::posix_disk(), folder, data_dir);
  if (!x)
    return x.error();
  auto adopted = put_back(*x);
  if (!adopted) {
    x->give_up();
    return adopted.error();
  }
  return lines{data_dir + " is restored from " + described(folder, x->list()),
               *adopted};
}

result<lines> run_restore(const restore_flags& flags) {
  if (flags.only_check != flags.data_dir.empty())
    return fail(ec::invalid_argument,
                flags.only_check ? "--check restores nothing: leave DATA_DIR out"
                                 : "DATA_DIR is missing: where to restore to");
  const auto folder
    = storage::find_backup(storage::posix_disk(), flags.backup);
  if (!folder)
    return folder.error();
  return flags.only_check ? check(*folder) : restore(*folder, flags.data_dir);
}

/// A backup that is damaged is a finding; the rest could not start.
int status_of(const error& x) {
  return x.code == ec::storage_failure ? failed : refused;
}

} // namespace

void add_restore(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
    "restore", "Put a backup into an empty or new data directory, so that its "
               "next events get ids that no event had before");
  auto flags = std::make_shared<restore_flags>();
  command
    ->add_option("BACKUP", flags->backup,
                 "A backup, or a directory of backups: then the newest one")
    ->required();
  command->add_option("DATA_DIR", flags->data_dir,
                      "Where to; the user who runs the node must own it");
  command->add_flag("--check", flags->only_check,
                    "Restore nothing: compare every file of the backup with "
                    "its checksum");
  command->callback([flags, &status] {
    const auto done = run_restore(*flags);
    if (!done)
      std::cerr << "weir: cannot restore: " << printable(done.error().context)
                << "\n";
    else
      for (const auto& line : *done)
        std::cout << printable(line) << std::endl;
    status = done ? all_good : status_of(done.error());
  });
}

} // namespace weir::apps
