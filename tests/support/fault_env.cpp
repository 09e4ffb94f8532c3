#include "tests/support/fault_env.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace weir::tests {

using leveldb::Slice;
using leveldb::Status;

namespace {

Status make_error(const std::string& name, io_error x) {
  return Status::IOError(name,
                         std::strerror(x == io_error::no_space ? ENOSPC : EIO));
}

} // namespace

class fault_env::reader final : public leveldb::SequentialFile {
public:
  reader(leveldb::SequentialFile* base, std::string name, fault_env& owner)
    : base_(base), name_(std::move(name)), owner_(owner) {
    // nop
  }

  Status Read(size_t n, Slice* out, char* scratch) override {
    if (auto x = owner_.enter(io_call::read, name_); !x.ok())
      return x;
    return base_->Read(n, out, scratch);
  }

  Status Skip(uint64_t n) override { return base_->Skip(n); }

private:
  std::unique_ptr<leveldb::SequentialFile> base_;
  std::string name_;
  fault_env& owner_;
};

class fault_env::table final : public leveldb::RandomAccessFile {
public:
  table(leveldb::RandomAccessFile* base, std::string name, fault_env& owner)
    : base_(base), name_(std::move(name)), owner_(owner) {
    // nop
  }

  Status Read(uint64_t offset, size_t n, Slice* out,
              char* scratch) const override {
    if (auto x = owner_.enter(io_call::read, name_); !x.ok())
      return x;
    return base_->Read(offset, n, out, scratch);
  }

private:
  std::unique_ptr<leveldb::RandomAccessFile> base_;
  std::string name_;
  fault_env& owner_;
};

class fault_env::writer final : public leveldb::WritableFile {
public:
  writer(leveldb::WritableFile* base, std::string name, fault_env& owner)
    : base_(base), name_(std::move(name)), owner_(owner) {
    // nop
  }

  Status Append(const Slice& data) override {
    size_t reaches = 0;
    auto x = owner_.enter_append(name_, data.size(), reaches);
    if (reaches != 0)
      if (auto y = base_->Append({data.data(), reaches}); !y.ok())
        return y;
    // The part that a failing write wrote must be in the file, not in a buffer.
    if (!x.ok() && reaches != 0)
      base_->Flush();
    return x;
  }

  Status Flush() override {
    if (auto x = owner_.enter(io_call::flush, name_); !x.ok())
      return x;
    return base_->Flush();
  }

  Status Sync() override {
    if (auto x = owner_.enter(io_call::sync, name_); !x.ok())
      return x;
    return base_->Sync();
  }

  Status Close() override {
    auto x = owner_.enter(io_call::close, name_);
    auto y = base_->Close();
    return x.ok() ? y : x;
  }

private:
  std::unique_ptr<leveldb::WritableFile> base_;
  std::string name_;
  fault_env& owner_;
};

// -- faults -------------------------------------------------------------------

fault_env::fault_env(storage::disk_env& base) : disk_env(&base), base_(base) {
  // nop
}

void fault_env::plan(fault_plan x) {
  const std::lock_guard guard{mutex_};
  plan_ = std::move(x);
  armed_ = true;
  reached_ = false;
  counted_ = 0;
}

void fault_env::heal() {
  const std::lock_guard guard{mutex_};
  armed_ = false;
}

bool fault_env::reached() const {
  const std::lock_guard guard{mutex_};
  return reached_;
}

uint64_t fault_env::failures() const {
  const std::lock_guard guard{mutex_};
  return failures_;
}

uint64_t fault_env::refusals() const {
  const std::lock_guard guard{mutex_};
  return refusals_;
}

uint64_t fault_env::calls() const {
  const std::lock_guard guard{mutex_};
  return counted_;
}

uint64_t fault_env::calls(io_call kind) const {
  const std::lock_guard guard{mutex_};
  return totals_[static_cast<size_t>(kind)];
}

uint64_t fault_env::calls_of_maker(io_call kind) const {
  const std::lock_guard guard{mutex_};
  return of_maker_[static_cast<size_t>(kind)];
}

uint64_t fault_env::journaled() const {
  const std::lock_guard guard{mutex_};
  return journaled_;
}

uint64_t fault_env::appended() const {
  const std::lock_guard guard{mutex_};
  return appended_;
}

void fault_env::budget(std::optional<uint64_t> bytes) {
  const std::lock_guard guard{mutex_};
  budget_ = bytes;
}

Status fault_env::enter(io_call kind, const std::string& name) {
  std::unique_lock guard{mutex_};
  ++totals_[static_cast<size_t>(kind)];
  if (std::this_thread::get_id() == maker_)
    ++of_maker_[static_cast<size_t>(kind)];
  if (!armed_ || (plan_.kinds & kind_bit(kind)) == 0
      || !name.ends_with(plan_.name_ends_with)
      || (plan_.thread && *plan_.thread != std::this_thread::get_id()))
    return Status::OK();
  ++counted_;
  if (counted_ < plan_.nth || (counted_ > plan_.nth && !plan_.sticky))
    return Status::OK();
  const bool first = !std::exchange(reached_, true);
  if (!plan_.instead) {
    ++failures_;
    return make_error(name, plan_.error);
  }
  if (!first)
    return Status::OK();
  // It may wait for another thread that makes calls during this time.
  const auto instead = plan_.instead;
  guard.unlock();
  instead();
  return Status::OK();
}

Status fault_env::enter_append(const std::string& name, size_t size,
                               size_t& reaches) {
  auto planned = enter(io_call::append, name);
  const std::lock_guard guard{mutex_};
  reaches = planned.ok() ? size : size * plan_.torn / 256;
  const bool fits = !budget_ || reaches <= *budget_;
  if (budget_) {
    reaches = static_cast<size_t>(std::min<uint64_t>(reaches, *budget_));
    *budget_ -= reaches;
  }
  refusals_ += fits ? 0 : 1;
  if (name.ends_with(".log"))
    journaled_ += reaches;
  if (name.find("LOG", name.rfind('/') + 1) == std::string::npos)
    appended_ += reaches;
  return fits ? planned : make_error(name, io_error::no_space);
}

// -- Env ----------------------------------------------------------------------

Status fault_env::NewSequentialFile(const std::string& name,
                                    leveldb::SequentialFile** out) {
  *out = nullptr;
  if (auto x = enter(io_call::open, name); !x.ok())
    return x;
  auto x = base_.NewSequentialFile(name, out);
  if (x.ok())
    *out = new reader{*out, name, *this};
  return x;
}

Status fault_env::NewRandomAccessFile(const std::string& name,
                                      leveldb::RandomAccessFile** out) {
  *out = nullptr;
  if (auto x = enter(io_call::open, name); !x.ok())
    return x;
  auto x = base_.NewRandomAccessFile(name, out);
  if (x.ok())
    *out = new table{*out, name, *this};
  return x;
}

Status fault_env::NewWritableFile(const std::string& name,
                                  leveldb::WritableFile** out) {
  *out = nullptr;
  if (auto x = enter(io_call::create, name); !x.ok())
    return x;
  auto x = base_.NewWritableFile(name, out);
  if (x.ok())
    *out = new writer{*out, name, *this};
  return x;
}

Status fault_env::NewAppendableFile(const std::string& name,
                                    leveldb::WritableFile** out) {
  *out = nullptr;
  if (auto x = enter(io_call::create, name); !x.ok())
    return x;
  auto x = base_.NewAppendableFile(name, out);
  if (x.ok())
    *out = new writer{*out, name, *this};
  return x;
}

bool fault_env::FileExists(const std::string& name) {
  return enter(io_call::exists, name).ok() && base_.FileExists(name);
}

Status fault_env::GetChildren(const std::string& directory,
                              std::vector<std::string>* out) {
  out->clear();
  if (auto x = enter(io_call::look, directory); !x.ok())
    return x;
  return base_.GetChildren(directory, out);
}

Status fault_env::GetFileSize(const std::string& name, uint64_t* size) {
  *size = 0;
  if (auto x = enter(io_call::look, name); !x.ok())
    return x;
  return base_.GetFileSize(name, size);
}

Status fault_env::RemoveFile(const std::string& name) {
  if (auto x = enter(io_call::remove, name); !x.ok())
    return x;
  return base_.RemoveFile(name);
}

Status fault_env::RenameFile(const std::string& from, const std::string& to) {
  if (auto x = enter(io_call::rename, to); !x.ok())
    return x;
  return base_.RenameFile(from, to);
}

Status fault_env::sync_directory(const std::string& directory) {
  if (auto x = enter(io_call::sync_directory, directory); !x.ok())
    return x;
  return base_.sync_directory(directory);
}

Status fault_env::space(const std::string& directory,
                        storage::disk_space& out) {
  auto x = base_.space(directory, out);
  const std::lock_guard guard{mutex_};
  if (budget_)
    out.free = std::min(out.free, *budget_);
  return x;
}

Status fault_env::lock_owner(const std::string& file, bool shared,
                             std::unique_ptr<storage::owner_lock>& out) {
  return base_.lock_owner(file, shared, out);
}

Status fault_env::check_place(const std::string& directory) {
  return base_.check_place(directory);
}

Status fault_env::link_file(const std::string& from, const std::string& to) {
  if (auto x = enter(io_call::create, to); !x.ok())
    return x;
  return base_.link_file(from, to);
}

Status fault_env::stamp(const std::string& name, storage::file_stamp& out) {
  if (auto x = enter(io_call::look, name); !x.ok())
    return x;
  return base_.stamp(name, out);
}

Status fault_env::check_owned(const std::string& directory) {
  return base_.check_owned(directory);
}

Status fault_env::create_private(const std::string& directory) {
  if (auto x = enter(io_call::create, directory); !x.ok())
    return x;
  return base_.create_private(directory);
}

} // namespace weir::tests
