#include "storage/backup/backup_writer.hpp"

#include "atproto/base_encodings.hpp"
#include "base/crash_point.hpp"
#include "storage/backup/limits.hpp"
#include "storage/disk/manifest.hpp"
#include "storage/disk/partition_stores.hpp"

#include <cstdio>
#include <utility>

namespace weir::storage {

namespace {

/// The path in a backup of a file of a store.
std::string path_in_backup(const store_identity& which,
                           const std::string& name) {
  const auto folder = partition_directory("", which.partition);
  return folder.empty() ? name : folder.substr(1) + "/" + name;
}

std::string table_name(uint64_t number) {
  char out[32];
  std::snprintf(out, sizeof out, "%06llu.ldb",
                static_cast<unsigned long long>(number));
  return out;
}

std::string names_of(const std::vector<captured_file>& logs) {
  std::string out;
  for (const auto& x : logs)
    out += " " + x.name;
  return out;
}

} // namespace

result<backup_writer> backup_writer::begin(backup_order order, disk_env& disk,
                                           const clock& time) {
  auto place = backup_place::claim(disk, order.directory, order.data_dir);
  if (!place)
    return place.error();
  const auto log_identity = order.stores.front()->log_identity();
  auto newest = place->newest(log_identity);
  if (!newest)
    return newest.error();
  auto capture = store_capture::take(order.stores, disk, time);
  if (!capture)
    return capture.error();
  backup_writer out{std::move(*place), std::move(*capture), disk};
  out.list_.log_identity = log_identity;
  out.list_.log_epoch = std::move(order.log_epoch);
  out.list_.partitions = static_cast<uint16_t>(order.stores.size());
  out.list_.made = time.wall_now();
  out.list_.last_operations = std::move(order.last_operations);
  out.summary_.pause = out.capture_->pause();
  if (*newest)
    for (auto& x : (*newest)->files)
      out.before_.emplace(x.path, std::move(x));
  if (auto ok = out.prepare(); !ok) {
    out.give_up();
    return ok.error();
  }
  return out;
}

result<void> backup_writer::prepare() {
  if (auto ok = place_.begin_draft(list_.partitions); !ok)
    return ok;
  for (const auto& x : capture_->stores()) {
    if (auto ok = write_names(x); !ok)
      return ok;
    left_.push_back({x.directory + "/" + x.manifest.name,
                     path_in_backup(x.identity, x.manifest.name),
                     x.manifest.bytes});
  }
  return {};
}

/// Writes the small files that say what the others are.
result<void> backup_writer::write_names(const captured_store& x) {
  for (const auto& [name, text] :
       {std::pair{"FORMAT", to_text(x.identity)},
        std::pair{"CURRENT", x.current},
        std::pair{"NEWEST_LOG", x.newest_log}}) {
    if (text.empty())
      continue;
    const auto path = path_in_backup(x.identity, name);
    const auto status = write_durably(*disk_, draft_path(path), text);
    if (!status.ok())
      return backup_error(status);
    entry_ = {path, text.size()};
    summary_.copied_bytes += text.size();
    end_file(atproto::encode_hex(atproto::sha256(as_bytes(text))));
  }
  return {};
}

result<bool> backup_writer::step() {
  auto out = do_step();
  if (!out)
    give_up();
  return out;
}

void backup_writer::give_up() {
  copy_.reset();
  capture_.reset();
  place_.remove_draft();
}

result<bool> backup_writer::do_step() {
  if (copy_) {
    auto sum = copy_->step();
    if (!sum)
      return sum.error();
    if (!sum->empty())
      end_file(std::move(*sum));
    return false;
  }
  if (!left_.empty()) {
    auto next = std::move(left_.back());
    left_.pop_back();
    auto ok = begin_file(std::move(next));
    return ok ? result<bool>{false} : ok.error();
  }
  if (!std::exchange(tables_planned_, true)) {
    for (const auto& x : capture_->stores())
      if (auto ok = plan_tables(x); !ok)
        return ok.error();
    return false;
  }
  auto ok = finish();
  return ok ? result<bool>{true} : ok.error();
}

/// The MANIFEST is copied by now: it says which tables and logs belong to the
/// store. Others are being written, or are not needed any more.
result<void> backup_writer::plan_tables(const captured_store& x) {
  const auto folder = partition_directory(place_.draft(), x.identity.partition);
  const auto found = read_manifest(*disk_, folder);
  if (!found)
    return found.error();
  if (!*found)
    return damaged_manifest(x.directory + "/" + x.manifest.name);
  const auto& state = (*found)->state;
  bool has_oldest = false;
  for (const auto& log : x.logs) {
    const auto number = file_number(log.name, ".log").value_or(0);
    has_oldest = has_oldest || number == state.log;
    if (number >= state.log || number == state.previous_log)
      left_.push_back({x.directory + "/" + log.name,
                       path_in_backup(x.identity, log.name), log.bytes});
  }
  if (!has_oldest)
    return fail(ec::storage_failure, "the store in " + x.directory + " lacks "
                                       + log_name(state.log) + " and has only"
                                       + names_of(x.logs));
  for (const auto table : state.tables)
    left_.push_back({x.directory + "/" + table_name(table),
                     path_in_backup(x.identity, table_name(table)),
                     std::nullopt});
  return {};
}

result<void> backup_writer::begin_file(source x) {
  pass(crash_point::backup_file);
  entry_ = {x.path};
  if (!x.bytes) {
    if (const auto status = disk_->GetFileSize(x.from, &entry_.bytes);
        !status.ok())
      return backup_error(status);
    if (file_stamp at; disk_->stamp(x.from, at).ok()) {
      entry_.node = at.node;
      entry_.changed_ns = at.changed_ns;
    }
    if (reuse())
      return {};
    const auto linked = link_table(x);
    if (!linked)
      return linked.error();
    if (*linked)
      return begin_copy(draft_path(x.path), {});
  } else {
    entry_.bytes = *x.bytes;
  }
  return begin_copy(x.from, draft_path(x.path));
}

/// True when the backup before has the same table, which then has a second
/// name. If that does not work, the table is copied.
bool backup_writer::reuse() {
  const auto known = before_.find(entry_.path);
  if (known == before_.end())
    return false;
  const auto& x = known->second;
  const auto file = place_.newest_folder() + "/" + x.path;
  uint64_t bytes = 0;
  if (entry_.node == 0 || x.node != entry_.node
      || x.changed_ns != entry_.changed_ns || x.bytes != entry_.bytes
      || !disk_->GetFileSize(file, &bytes).ok() || bytes != x.bytes
      || !disk_->link_file(file, draft_path(x.path)).ok())
    return false;
  ++summary_.reused_files;
  end_file(x.sum);
  return true;
}

/// True when the file of the store has a second name in the backup.
result<bool> backup_writer::link_table(const source& x) {
  const auto status = disk_->link_file(x.from, draft_path(x.path));
  if (status.ok())
    return true;
  return status.IsNotSupportedError() ? result<bool>{false}
                                      : backup_error(status);
}

/// @param to Empty: it is only read.
result<void> backup_writer::begin_copy(const std::string& from,
                                       const std::string& to) {
  if (!to.empty()) {
    const auto room = place_.free_bytes();
    if (!room)
      return room.error();
    if (*room < entry_.bytes + limits::backup_free_bytes_min)
      return fail(ec::disk_full,
                  "the disk of the backup " + to + " has "
                    + std::to_string(*room) + " bytes free, and "
                    + std::to_string(entry_.bytes) + " are to be copied and "
                    + std::to_string(limits::backup_free_bytes_min)
                    + " stay free; make room on that disk, or choose another");
    summary_.copied_bytes += entry_.bytes;
  }
  auto made = file_copy::open(*disk_, from, entry_.bytes, to);
  if (!made)
    return made.error();
  copy_ = std::move(*made);
  return {};
}

void backup_writer::end_file(std::string sum) {
  copy_.reset();
  entry_.sum = std::move(sum);
  summary_.bytes += entry_.bytes;
  ++summary_.files;
  list_.files.push_back(std::exchange(entry_, {}));
}

result<void> backup_writer::finish() {
  capture_.reset();
  const auto text = to_text(list_);
  if (text.size() > limits::backup_list_bytes_max)
    return fail(ec::limit_reached, "the store has too many files to list");
  leveldb::Status status;
  for (uint16_t i = 0; i < list_.partitions && status.ok(); ++i)
    status = disk_->sync_directory(partition_directory(place_.draft(), i));
  if (status.ok())
    status = write_durably(*disk_, draft_path(backup_list_name), text);
  if (status.ok())
    status = disk_->sync_directory(place_.draft());
  if (!status.ok())
    return backup_error(status);
  auto folder = place_.complete_draft();
  if (!folder)
    return folder.error();
  summary_.folder = std::move(*folder);
  return {};
}

} // namespace weir::storage
