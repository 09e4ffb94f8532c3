#include "storage/disk/opened_store.hpp"

#include "base/crash_point.hpp"
#include "storage/disk/log_repair.hpp"
#include "storage/disk/manifest.hpp"
#include "storage/disk/newest_log.hpp"
#include "storage/format/values.hpp"

namespace weir::storage {

namespace {

/// Number of files that LevelDB keeps open besides tables.
constexpr int other_files = 10;
constexpr int bloom_bits = 10;

// Names in the table meta.
constexpr const char* format_row = "format";
constexpr const char* log_identity_row = "log_identity";
constexpr const char* store_epoch_row = "store_epoch";

/// A store epoch is a counter in the upper half and random bits in the lower.
constexpr unsigned epoch_counter_shift = 32;

error damaged(const std::string& directory, const std::string& why) {
  return fail(ec::storage_failure, "the store in " + directory + " is damaged ("
                                     + why + "): " + damage_remedy);
}

/// Its next events would get ids that others have already, and it would be no
/// backup any more.
error is_a_backup(const std::string& directory) {
  return fail(ec::invalid_argument,
              directory + " is a backup: `weir restore` puts it into a data "
                          "directory");
}

} // namespace

error older_copy(const std::string& directory) {
  return fail(ec::invalid_argument,
              "the store in " + directory
                + " is older than the others of its data directory: an earlier "
                  "copy was put in its place. Restore a backup of the whole "
                  "data_dir, and take it over with `weir adopt`");
}

result<void> opened_store::open(std::function<void(const error&)> on_poison) {
  disk = options.disk != nullptr ? options.disk : &posix_disk();
  random = options.random != nullptr ? options.random : &system_random();
  if (read_only()) {
    shield = read_only_disk(*disk);
    disk = shield.get();
  }
  if (auto x = claim_directory(); !x)
    return x;
  pass(crash_point::store_claimed);
  if (auto x = check_current(); !x)
    return x;
  if (auto x = repair_logs(*disk, options.directory); !x)
    return x;
  if (auto x = open_leveldb(std::move(on_poison)); !x)
    return x;
  pass(crash_point::store_recovered);
  if (auto x = check_meta(); !x)
    return x;
  if (epoch >> epoch_counter_shift < options.openings_min)
    return older_copy(options.directory);
  return read_only() ? result<void>{} : begin_epoch();
}

/// Finds out whose directory it is. Nothing is changed before that.
result<void> opened_store::claim_directory() {
  const auto& directory = options.directory;
  auto known = read_store_identity(*disk, directory);
  if (!known)
    return known.error();
  const bool there = known->has_value();
  if (!there && (read_only() || !options.may_make))
    return fail(ec::not_found, "there is no store in " + directory);
  if (!read_only() && disk->FileExists(directory + "/" + backup_list_name))
    return is_a_backup(directory);
  if (!there)
    if (auto x = make_store_directory(*disk, directory); !x)
      return x;
  if (const auto x = disk->check_place(directory); !x.ok())
    return fail(ec::invalid_argument, x.ToString());
  if (const auto x = disk->lock_owner(directory + "/OWNER", false, lock);
      says_disk_full(x))
    return from_status(directory, x);
  else if (!x.ok())
    return fail(ec::invalid_argument, "the store in " + directory
                                        + " cannot be opened: " + x.ToString()
                                        + "; one node uses a directory at a "
                                          "time: end that one, or choose "
                                          "another data_dir");
  // Only the owner may make a store, and only now is it certain who that is.
  known = read_store_identity(*disk, directory);
  if (!known)
    return known.error();
  if (*known) {
    identity = **known;
    return check_expected();
  }
  if (there)
    return damaged(directory, "FORMAT is gone");
  identity = options.expected.value_or(store_identity{});
  while (identity.log_identity == 0)
    identity.log_identity = random->next();
  return write_store_identity(*disk, directory, identity);
}

result<void> opened_store::check_expected() const {
  if (!options.expected)
    return {};
  const auto& wanted = *options.expected;
  if (identity.partitions != wanted.partitions)
    return fail(ec::invalid_argument,
                "the data directory " + options.directory
                  + " was made with partitions = "
                  + std::to_string(identity.partitions)
                  + ", and partitions = " + std::to_string(wanted.partitions)
                  + " is wanted: their number never changes, so set that one, "
                    "or choose another data_dir");
  if (identity.partition != wanted.partition
      || (wanted.log_identity != 0
          && identity.log_identity != wanted.log_identity))
    return fail(ec::invalid_argument,
                "the store in " + options.directory + " is not partition "
                  + std::to_string(wanted.partition)
                  + " of its data directory: put back the directory that was "
                    "made there, or restore a backup of all of them");
  return {};
}

/// Without CURRENT a store may be created only if it never had a row.
result<void> opened_store::check_current() {
  const auto& directory = options.directory;
  fresh = !disk->FileExists(directory + "/CURRENT");
  if (!fresh)
    return {};
  std::vector<std::string> names;
  if (const auto x = disk->GetChildren(directory, &names); !x.ok())
    return from_status(directory, x);
  for (const auto& name : names)
    if (name.ends_with(".ldb") || name.ends_with(".log"))
      return damaged(directory, "CURRENT is gone");
  return {};
}

result<void>
opened_store::open_leveldb(std::function<void(const error&)> on_poison) {
  safe_env_options files{.disk = disk};
  files.on_poison = std::move(on_poison);
  files.on_log = [this](const std::string& path) {
    const auto name = path.substr(path.rfind('/') + 1);
    const auto number = file_number(name, ".log").value_or(0);
    return write_newest_log(*disk, options.directory, number);
  };
  env = std::make_unique<safe_env>(std::move(files));
  filter.reset(leveldb::NewBloomFilterPolicy(bloom_bits));
  cache.reset(leveldb::NewLRUCache(options.block_cache_bytes));
  leveldb::Options how;
  how.create_if_missing = fresh;
  how.paranoid_checks = true;
  how.env = env->env();
  how.write_buffer_size = options.write_buffer_bytes;
  how.max_file_size = options.table_bytes;
  how.max_open_files = static_cast<int>(options.tables_open_max) + other_files;
  how.block_cache = cache.get();
  how.filter_policy = filter.get();
  how.compression = leveldb::kSnappyCompression;
  leveldb::DB* opened = nullptr;
  const auto x = leveldb::DB::Open(how, options.directory, &opened);
  db.reset(opened);
  if (shield)
    shield->refuse_tables();
  if (x.ok())
    return {};
  return x.IsCorruption() || x.IsInvalidArgument()
           ? damaged(options.directory, x.ToString())
           : from_status(options.directory, x);
}

result<uint64_t> opened_store::meta_number(const char* name) {
  std::string value;
  const auto x = db->Get(checked_read(), encode_key(meta_key{name}), &value);
  if (!x.ok())
    return damaged(options.directory, std::string{name} + ": " + x.ToString());
  auto row = decode_value<counter>(value, table::meta);
  if (!row)
    return row.error();
  return row->value;
}

/// The rows inside must agree with the file beside them. A store without rows
/// is one whose first batch never became durable.
result<void> opened_store::check_meta() {
  const std::unique_ptr<leveldb::Iterator> first{
    db->NewIterator(checked_read())};
  first->SeekToFirst();
  if (const auto x = first->status(); !x.ok())
    return from_status(options.directory, x);
  fresh = !first->Valid();
  if (fresh)
    return {};
  const auto log = meta_number(log_identity_row);
  if (!log)
    return log.error();
  if (*log != identity.log_identity)
    return damaged(options.directory, "FORMAT belongs to another store");
  const auto last_epoch = meta_number(store_epoch_row);
  if (!last_epoch)
    return last_epoch.error();
  epoch = *last_epoch;
  return {};
}

result<void> opened_store::begin_epoch() {
  const auto count = (epoch >> epoch_counter_shift) + 1;
  epoch = count << epoch_counter_shift | random->next() >> epoch_counter_shift;
  leveldb::WriteBatch batch;
  if (fresh) {
    const auto text = as_bytes(store_format);
    batch.Put(encode_key(meta_key{format_row}),
              encode_value(stored_bytes{{text.begin(), text.end()}}));
    batch.Put(encode_key(meta_key{log_identity_row}),
              encode_value(counter{identity.log_identity}));
  }
  batch.Put(encode_key(meta_key{store_epoch_row}),
            encode_value(counter{epoch}));
  leveldb::WriteOptions how;
  how.sync = true;
  const auto x = db->Write(how, &batch);
  return x.ok() ? result<void>{} : from_status(options.directory, x);
}

/// LevelDB flushes its memtable for every range that it compacts; this range
/// has no rows.
void opened_store::flush_memtable() {
  const std::string nowhere(1, '\xff');
  const auto x = slice(nowhere);
  db->CompactRange(&x, &x);
}

} // namespace weir::storage
