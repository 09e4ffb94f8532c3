#include "storage/backup/store_capture.hpp"

#include "storage/disk/database.hpp"
#include "storage/disk/manifest.hpp"
#include "storage/disk/opened_store.hpp"

namespace weir::storage {

namespace {

result<void> look_at(disk_env& disk, captured_store& out) {
  const auto in = [&](const std::string& name) {
    return out.directory + "/" + name;
  };
  auto status = leveldb::ReadFileToString(&disk, in("CURRENT"), &out.current);
  if (status.ok()) {
    const auto noted
      = leveldb::ReadFileToString(&disk, in("NEWEST_LOG"), &out.newest_log);
    status = noted.IsNotFound() ? leveldb::Status::OK() : noted;
  }
  std::vector<std::string> names;
  if (status.ok())
    status = disk.GetChildren(out.directory, &names);
  out.manifest.name = out.current.substr(0, out.current.find('\n'));
  for (const auto& name : names)
    if (file_number(name, ".log"))
      out.logs.push_back({name});
  if (status.ok())
    status = disk.GetFileSize(in(out.manifest.name), &out.manifest.bytes);
  for (auto& x : out.logs)
    if (status.ok())
      status = disk.GetFileSize(in(x.name), &x.bytes);
  return status.ok() ? result<void>{} : from_status(out.directory, status);
}

} // namespace

result<store_capture> store_capture::take(const std::vector<database*>& stores,
                                          disk_env& disk, const clock& time) {
  store_capture out;
  for (auto* x : stores) {
    if (x->failed())
      return x->failure();
    out.stores_.push_back({x->directory(), x->identity()});
  }
  std::vector<file_gate::stand_still> stopped;
  const auto begin = time.steady_now();
  for (auto* x : stores)
    stopped.push_back(x->files().stand_still());
  for (auto* x : stores)
    out.holds_.push_back(x->files().hold_files());
  for (auto& x : out.stores_)
    if (auto ok = look_at(disk, x); !ok) {
      stopped.clear(); // Ending a hold passes the gate.
      return ok.error();
    }
  stopped.clear();
  out.pause_ = time.steady_now() - begin;
  return out;
}

} // namespace weir::storage
