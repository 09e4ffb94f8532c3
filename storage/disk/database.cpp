#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "storage/disk/database_impl.hpp"
#include "storage/disk/limits.hpp"
#include "storage/disk/table_purge.hpp"
#include "storage/disk/write_trial.hpp"

#include <leveldb/iterator.h>

#include <algorithm>

namespace weir::storage {

struct row_reader::impl {
  impl(const database::impl& of, leveldb::Iterator* all, key_range part)
    : owner(of), rows(all), range(std::move(part)) {}

  ~impl() {
    if (const auto x = rows->status(); !x.ok())
      owner.failed_to_read(x);
  }

  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;

  const database::impl& owner;
  std::unique_ptr<leveldb::Iterator> rows;
  key_range range;
};

row_reader::row_reader(std::unique_ptr<impl> x) noexcept
  : impl_(std::move(x)) {}

row_reader::~row_reader() = default;
row_reader::row_reader(row_reader&&) noexcept = default;
row_reader& row_reader::operator=(row_reader&&) noexcept = default;

bool row_reader::valid() const noexcept {
  const auto& end = impl_->range.end;
  return impl_->rows->Valid() && (end.empty() || key() < end);
}

std::string_view row_reader::key() const noexcept {
  return view(impl_->rows->key());
}

std::string_view row_reader::value() const noexcept {
  return view(impl_->rows->value());
}

void row_reader::next() {
  impl_->rows->Next();
}

void row_reader::seek(std::string_view key) {
  impl_->rows->Seek(slice(std::max<std::string_view>(key, impl_->range.begin)));
}

result<void> row_reader::status() const {
  const auto x = impl_->rows->status();
  return x.ok() ? result<void>{}
                : from_status(impl_->owner.store.options.directory, x);
}

/// Opening a store writes to it, so a full disk is often first met here.
static error with_remedy(error x) {
  if (x.code == ec::disk_full)
    x.context += "; make room on that disk";
  return x;
}

result<std::unique_ptr<database>> database::open(database_options options) {
  auto rep = std::make_unique<impl>(std::move(options));
  auto opened = rep->store.open([&x = *rep](const error& reason) {
    if (!x.store.read_only())
      x.fail_for_good(reason);
  });
  if (!opened)
    return with_remedy(opened.error());
  pass(crash_point::store_opened);
  rep->serving = true;
  return std::unique_ptr<database>{new database{std::move(rep)}};
}

database::database(std::unique_ptr<impl> x) noexcept : impl_(std::move(x)) {}

database::~database() {
  impl_->serving = false; // A failure from here on is not reported.
}

void database::impl::fail_for_good(const error& reason) {
  {
    const std::lock_guard guard{failure_mutex};
    if (failed)
      return;
    failure = reason;
    failed = true;
  }
  log::error("store_failed", {{"directory", store.options.directory},
                              {"reason", to_string(reason)}});
  if (serving && store.options.on_failure)
    store.options.on_failure(reason);
}

error database::impl::failed_to_read(const leveldb::Status& x) const {
  auto out = from_status(store.options.directory, x);
  ++counts.failed_reads;
  const std::lock_guard guard{failure_mutex};
  auto& all = read_failures;
  if (all.size() < limits::findings_max
      && std::find(all.begin(), all.end(), out.context) == all.end())
    all.push_back(out.context);
  return out;
}

result<std::optional<std::string>> database::get(std::string_view key) const {
  ++impl_->counts.gets;
  std::optional<std::string> out{std::in_place};
  const auto x = impl_->store.db->Get(checked_read(), slice(key), &*out);
  if (x.IsNotFound())
    return std::optional<std::string>{};
  if (!x.ok())
    return impl_->failed_to_read(x);
  return out;
}

result<void> database::write(const write_batch& batch, sync_mode sync) {
  if (impl_->store.read_only())
    return fail(ec::invalid_argument, "the store was opened to read only");
  if (failed())
    return failure();
  leveldb::WriteOptions how;
  how.sync = sync == sync_mode::durable;
  if (const auto x = impl_->store.db->Write(how, batch.rep_.get()); !x.ok()) {
    impl_->fail_for_good(from_status(impl_->store.options.directory, x));
    return failure();
  }
  return {};
}

row_reader database::scan(const key_range& range) const {
  ++impl_->counts.scans;
  auto options = checked_read();
  options.fill_cache = false;
  auto rep = std::make_unique<row_reader::impl>(
    *impl_, impl_->store.db->NewIterator(options), range);
  rep->rows->Seek(slice(range.begin));
  return row_reader{std::move(rep)};
}

result<std::optional<std::pair<std::string, std::string>>>
database::last_in(const key_range& range) const {
  ++impl_->counts.scans;
  const std::unique_ptr<leveldb::Iterator> rows{
    impl_->store.db->NewIterator(checked_read())};
  if (!range.end.empty())
    rows->Seek(slice(range.end));
  if (rows->Valid())
    rows->Prev();
  else if (rows->status().ok())
    rows->SeekToLast();
  if (const auto x = rows->status(); !x.ok())
    return impl_->failed_to_read(x);
  std::optional<std::pair<std::string, std::string>> out;
  if (rows->Valid() && view(rows->key()) >= range.begin)
    out.emplace(view(rows->key()), view(rows->value()));
  return out;
}

bool database::failed() const noexcept {
  return impl_->failed;
}

error database::failure() const {
  const std::lock_guard guard{impl_->failure_mutex};
  return impl_->failure;
}

std::vector<std::string> database::failed_reads() const {
  const std::lock_guard guard{impl_->failure_mutex};
  return impl_->read_failures;
}

const store_identity& database::identity() const noexcept {
  return impl_->store.identity;
}

uint64_t database::store_epoch() const noexcept {
  return impl_->store.epoch;
}

int database::level0_files() const {
  std::string text;
  if (!impl_->store.db->GetProperty("leveldb.num-files-at-level0", &text))
    return 0;
  return std::stoi(text);
}

uint64_t database::file_bytes() const {
  auto* env = impl_->store.disk;
  std::vector<std::string> names;
  if (!env->GetChildren(impl_->store.options.directory, &names).ok())
    return 0;
  uint64_t out = 0;
  for (const auto& name : names) {
    uint64_t size = 0;
    if (name != "." && name != ".."
        && env->GetFileSize(impl_->store.options.directory + "/" + name, &size)
             .ok())
      out += size;
  }
  return out;
}

uint64_t database::approximate_bytes(const key_range& range) const {
  const leveldb::Range where{slice(range.begin), slice(range.end)};
  uint64_t out = 0;
  impl_->store.db->GetApproximateSizes(&where, 1, &out);
  return out;
}

result<bool> database::purge(const key_range& range) {
  if (failed())
    return failure();
  return purge_tables(*impl_, range);
}

uint64_t database::memory_bytes() const {
  std::string text;
  if (!impl_->store.db->GetProperty("leveldb.approximate-memory-usage", &text))
    return 0;
  return std::stoull(text);
}

void database::release_memory() {
  if (!failed())
    impl_->store.flush_memtable();
  impl_->store.cache->Prune();
}

result<disk_space> database::space() const {
  // Somebody may move the directory away for a moment.
  auto& missed = impl_->looks_missed;
  missed = impl_->store.lock->is_in_place() ? 0 : missed + 1;
  if (missed >= limits::place_looks_max) {
    const auto& directory = impl_->store.options.directory;
    impl_->fail_for_good(
      fail(ec::storage_failure,
           directory
             + " was removed, or another directory put in its place, "
               "while this process used it: what it wrote since may be "
               "lost. Put it back, or start anew, with no process "
               "running"));
    return failure();
  }
  disk_space out;
  if (const auto x
      = impl_->store.disk->space(impl_->store.options.directory, out);
      !x.ok())
    return from_status(impl_->store.options.directory, x);
  return out;
}

result<void> database::try_disk() const {
  auto& disk = *impl_->store.disk;
  const auto& directory = impl_->store.options.directory;
  const auto tried = try_writes(disk, directory);
  if (tried.ok())
    return {};
  auto out = from_status(directory, tried);
  if (disk_space left; disk.space(directory, left).ok())
    out.context
      += " while " + std::to_string(left.free) + " bytes are free there";
  return out;
}

database_counters database::counters() const noexcept {
  const auto& x = impl_->counts;
  return {x.gets, x.scans, x.failed_reads};
}

safe_env& database::files() noexcept {
  return *impl_->store.env;
}

const std::string& database::directory() const noexcept {
  return impl_->store.options.directory;
}

} // namespace weir::storage
