#include "tests/support/memory_disk.hpp"

#include "tests/support/memory_disk_parts.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>

namespace weir::tests {

using leveldb::Slice;
using leveldb::Status;

namespace {

constexpr size_t page = 4096;

size_t kept_of(size_t unsynced, kept how, random_source& random) {
  switch (how) {
    case kept::none:
      return 0;
    case kept::all:
      return unsynced;
    case kept::some:
      break;
  }
  const auto end = random.below(4); // Faults are most likely at the two ends.
  return end == 0 ? 0 : end == 1 ? unsynced : random.below(unsynced + 1);
}

bool is_kept(kept how, random_source& random) {
  return how == kept::some ? random.below(2) == 0 : how == kept::all;
}

/// The file after the power loss, in which its last bytes may be lost or
/// damaged.
std::shared_ptr<memory_file> what_is_left(const memory_file& before,
                                          random_source& random,
                                          const power_loss& how) {
  auto out = std::make_shared<memory_file>(before);
  auto& data = out->data;
  const auto synced = before.synced;
  data.resize(synced + kept_of(data.size() - synced, how.bytes, random));
  const auto kept = data.size() - synced;
  if (how.garble && kept != 0 && random.below(2) == 0) {
    const auto size = 1 + random.below(std::min(kept, page));
    const bool zeros = random.below(2) == 0;
    for (auto i = data.size() - size; i < data.size(); ++i)
      data[i] = zeros ? '\0' : static_cast<char>(random.next());
  }
  if (how.reorder)
    for (auto at = synced; at < data.size(); at += page - at % page)
      if (random.below(2) == 0)
        std::fill_n(data.begin() + static_cast<std::ptrdiff_t>(at),
                    std::min(page - at % page, data.size() - at), '\0');
  out->synced = data.size();
  return out;
}

/// Draws for each name independently. LevelDB's own thread may be writing a
/// file when the power is lost. However much it has written by then, the result
/// for the other files does not change.
class draws_by_name {
public:
  explicit draws_by_name(random_source& random) : seed_(random.next()) {
    // nop
  }

  random_source& of(const std::string& name) {
    auto& out = all_[name];
    if (!out)
      out = seeded_random(seed_ ^ std::hash<std::string>{}(name));
    return *out;
  }

private:
  uint64_t seed_;
  std::map<std::string, std::unique_ptr<random_source>> all_;
};

class nothing_locked final : public leveldb::FileLock {};

std::string parent_of(const std::string& name) {
  const auto slash = name.rfind('/');
  return slash == std::string::npos ? "." : name.substr(0, slash);
}

} // namespace

// -- the disk -----------------------------------------------------------------

memory_disk::memory_disk()
  : disk_env(leveldb::Env::Default()),
    state_(std::make_shared<memory_state>()) {
  // nop
}

memory_disk::~memory_disk() = default;

void memory_disk::cut_power(random_source& random, const power_loss& how) {
  const std::lock_guard guard{state_->mutex};
  auto& after = state_->after;
  after = state_->durable;
  draws_by_name draws{random};
  for (const auto& x : state_->pending)
    if (is_kept(how.entries, draws.of(x.name + x.gone)))
      x.apply_to(after);
  for (auto& [name, file] : after)
    file = what_is_left(*file, draws.of(name), how);
  state_->powered = false;
}

void memory_disk::kill() {
  const std::lock_guard guard{state_->mutex};
  state_->after.clear();
  for (const auto& [name, file] : state_->live)
    state_->after[name] = std::make_shared<memory_file>(*file);
  state_->powered = false;
}

void memory_disk::power_on() {
  const std::lock_guard guard{state_->mutex};
  state_->live = state_->after;
  state_->durable = state_->after;
  state_->pending.clear();
  state_->powered = true;
}

std::vector<std::string> memory_disk::names() const {
  const std::lock_guard guard{state_->mutex};
  std::vector<std::string> out;
  for (const auto& [name, file] : state_->live)
    out.push_back(name);
  return out;
}

std::string memory_disk::read(const std::string& name) const {
  const std::lock_guard guard{state_->mutex};
  const auto at = state_->live.find(name);
  return at != state_->live.end() ? at->second->data : std::string{};
}

void memory_disk::write(const std::string& name, std::string content) {
  const std::lock_guard guard{state_->mutex};
  auto file = std::make_shared<memory_file>();
  file->synced = content.size();
  file->data = std::move(content);
  state_->live[name] = file;
  state_->durable[name] = file;
}

void memory_disk::flip_bit(const std::string& name, size_t byte, unsigned bit) {
  const std::lock_guard guard{state_->mutex};
  auto& x = state_->live.at(name)->data.at(byte);
  x = static_cast<char>(x ^ (1 << bit));
}

std::unique_ptr<memory_disk> memory_disk::clone() const {
  auto out = std::make_unique<memory_disk>();
  for (const auto& name : names())
    out->write(name, read(name));
  return out;
}

void memory_disk::load(const std::string& directory) {
  for (const auto& entry : std::filesystem::directory_iterator{directory}) {
    std::ifstream in{entry.path(), std::ios::binary};
    write(entry.path().string(), {std::istreambuf_iterator<char>{in},
                                  std::istreambuf_iterator<char>{}});
  }
}

void memory_disk::store(const std::string& directory) const {
  std::filesystem::create_directories(directory);
  for (const auto& name : names()) {
    const auto path = std::filesystem::path{directory}
                      / std::filesystem::path{name}.filename();
    std::ofstream out{path, std::ios::binary | std::ios::trunc};
    out << read(name);
  }
}

// -- Env ----------------------------------------------------------------------

Status memory_disk::find(const std::string& name,
                         std::shared_ptr<memory_file>& out) const {
  const std::lock_guard guard{state_->mutex};
  if (!state_->powered)
    return no_power(name);
  const auto at = state_->live.find(name);
  if (at == state_->live.end())
    return Status::NotFound(name, "no such file");
  out = at->second;
  return Status::OK();
}

Status memory_disk::NewSequentialFile(const std::string& name,
                                      leveldb::SequentialFile** out) {
  std::shared_ptr<memory_file> file;
  auto x = find(name, file);
  *out = x.ok() ? new memory_reader{state_, file} : nullptr;
  return x;
}

Status memory_disk::NewRandomAccessFile(const std::string& name,
                                        leveldb::RandomAccessFile** out) {
  std::shared_ptr<memory_file> file;
  auto x = find(name, file);
  *out = x.ok() ? new memory_reader{state_, file} : nullptr;
  return x;
}

Status memory_disk::NewWritableFile(const std::string& name,
                                    leveldb::WritableFile** out) {
  const std::lock_guard guard{state_->mutex};
  *out = nullptr;
  if (!state_->powered)
    return no_power(name);
  const heap_scope outside{heap_of_world};
  auto file = std::make_shared<memory_file>();
  state_->change({name, file, {}});
  *out = new memory_writer{state_, file};
  return Status::OK();
}

Status memory_disk::NewAppendableFile(const std::string& name,
                                      leveldb::WritableFile** out) {
  std::shared_ptr<memory_file> file;
  auto x = find(name, file);
  if (x.IsNotFound())
    return NewWritableFile(name, out);
  *out = x.ok() ? new memory_writer{state_, file} : nullptr;
  return x;
}

bool memory_disk::FileExists(const std::string& name) {
  std::shared_ptr<memory_file> ignored;
  return find(name, ignored).ok();
}

Status memory_disk::GetChildren(const std::string& directory,
                                std::vector<std::string>* out) {
  out->clear();
  const auto prefix = directory + "/";
  const std::lock_guard guard{state_->mutex};
  if (!state_->powered)
    return no_power(directory);
  for (const auto& [name, file] : state_->live)
    if (name.starts_with(prefix))
      out->push_back(name.substr(prefix.size()));
  return Status::OK();
}

Status memory_disk::RemoveFile(const std::string& name) {
  std::shared_ptr<memory_file> file;
  if (auto x = find(name, file); !x.ok())
    return x;
  const std::lock_guard guard{state_->mutex};
  state_->change({{}, nullptr, name});
  return Status::OK();
}

Status memory_disk::CreateDir(const std::string&) {
  return Status::OK();
}

Status memory_disk::RemoveDir(const std::string&) {
  return Status::OK();
}

Status memory_disk::GetFileSize(const std::string& name, uint64_t* size) {
  std::shared_ptr<memory_file> file;
  auto x = find(name, file);
  const std::lock_guard guard{state_->mutex};
  *size = x.ok() ? file->data.size() : 0;
  return x;
}

Status memory_disk::RenameFile(const std::string& from, const std::string& to) {
  std::shared_ptr<memory_file> file;
  if (auto x = find(from, file); !x.ok())
    return x;
  const std::lock_guard guard{state_->mutex};
  state_->change({to, file, from});
  return Status::OK();
}

Status memory_disk::LockFile(const std::string&, leveldb::FileLock** out) {
  *out = new nothing_locked;
  return Status::OK();
}

Status memory_disk::UnlockFile(leveldb::FileLock* x) {
  delete x;
  return Status::OK();
}

Status memory_disk::sync_directory(const std::string& directory) {
  const std::lock_guard guard{state_->mutex};
  if (!state_->powered)
    return no_power(directory);
  std::vector<entry_change> later;
  for (auto& x : state_->pending) {
    if (parent_of(x.file ? x.name : x.gone) == directory)
      x.apply_to(state_->durable);
    else
      later.push_back(std::move(x));
  }
  state_->pending = std::move(later);
  return Status::OK();
}

Status memory_disk::space(const std::string&, storage::disk_space& out) {
  out = {free, total};
  return Status::OK();
}

Status memory_disk::lock_owner(const std::string& file, bool shared,
                               std::unique_ptr<storage::owner_lock>& out) {
  {
    const std::lock_guard guard{state_->mutex};
    if (state_->owners.contains(file))
      return Status::IOError(file, "in use by this test");
    if (!shared)
      state_->owners.insert(file);
  }
  out = shared ? std::make_unique<storage::owner_lock>()
               : std::make_unique<memory_lock>(state_, file);
  return Status::OK();
}

Status memory_disk::check_place(const std::string&) {
  return Status::OK();
}

} // namespace weir::tests
