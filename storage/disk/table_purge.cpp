#include "storage/disk/table_purge.hpp"

#include "storage/disk/database_impl.hpp"
#include "storage/disk/limits.hpp"
#include "storage/disk/manifest.hpp"
#include "storage/disk/table_list.hpp"

#include <leveldb/comparator.h>
#include <leveldb/iterator.h>
#include <leveldb/table.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

namespace weir::storage {

namespace {

/// A key in a table ends with its sequence number and kind, little-endian.
constexpr size_t trailer_size = 8;
constexpr uint64_t kind_mask = 0xff;
constexpr uint64_t deletion = 0;

std::string_view user_key(const leveldb::Slice& x) noexcept {
  return {x.data(), x.size() < trailer_size ? 0 : x.size() - trailer_size};
}

uint64_t trailer(const leveldb::Slice& x) noexcept {
  uint64_t out = 0;
  for (size_t i = 0; i < trailer_size && i < x.size(); ++i)
    out = out << 8 | static_cast<uint8_t>(x.data()[x.size() - 1 - i]);
  return out;
}

/// The order of rows in a LevelDB table: the newest one of a key is first.
class table_order final : public leveldb::Comparator {
public:
  int Compare(const leveldb::Slice& a, const leveldb::Slice& b) const override {
    if (const auto x = user_key(a).compare(user_key(b)); x != 0)
      return x;
    return trailer(a) > trailer(b) ? -1 : trailer(a) < trailer(b) ? 1 : 0;
  }

  const char* Name() const override { return "leveldb.InternalKeyComparator"; }
  void FindShortestSeparator(std::string*,
                             const leveldb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

/// An open table with everything that it needs.
struct open_table {
  leveldb::Status open(leveldb::Env* env, const std::string& path) {
    uint64_t size = 0;
    leveldb::RandomAccessFile* opened = nullptr;
    auto out = env->GetFileSize(path, &size);
    if (out.ok())
      out = env->NewRandomAccessFile(path, &opened);
    file.reset(opened);
    leveldb::Options how;
    how.env = env;
    how.comparator = &order;
    how.paranoid_checks = true;
    leveldb::Table* made = nullptr;
    if (out.ok())
      out = leveldb::Table::Open(how, file.get(), size, &made);
    table.reset(made);
    if (!out.ok())
      return out;
    auto reads = checked_read();
    reads.fill_cache = false;
    rows.reset(table->NewIterator(reads));
    return out;
  }

  table_order order;
  std::unique_ptr<leveldb::RandomAccessFile> file;
  std::unique_ptr<leveldb::Table> table;
  std::unique_ptr<leveldb::Iterator> rows;
};

/// A neighbour of a key in the order of keys that is no key of our tables, so
/// deleting it affects nothing.
std::string just_before(std::string key) {
  key.pop_back();
  return key;
}

std::string just_after(std::string key) {
  key.push_back('\0');
  return key;
}

std::optional<uint64_t> number_of(const std::string& name) {
  const auto table = file_number(name, ".ldb");
  return table ? table : file_number(name, ".log");
}

class table_purge {
public:
  table_purge(database::impl& of, const key_range& range)
    : of_(of), range_(range) {}

  result<bool> run() {
    const auto newest = newest_file();
    if (!newest)
      return newest.error();
    of_.store.flush_memtable();
    for (int i = 0; i < limits::purge_rounds_max; ++i) {
      moved_ = false;
      const auto dead = find_dead();
      if (!dead)
        return dead.error();
      if (!dead->empty()) {
        if (auto ok = rewrite(*dead); !ok)
          return ok.error();
        continue;
      }
      if (moved_)
        continue;
      auto left = is_left(*newest);
      if (left && *left) {
        of_.store.flush_memtable();
        left = is_left(*newest);
      }
      return left ? result<bool>{!*left} : left;
    }
    return false;
  }

private:
  /// The first and last key in the range whose value in a table is not current.
  struct dead_rows {
    std::string first;
    std::string last;
  };

  result<std::vector<dead_rows>> find_dead() {
    // The tables are listed before the reader is made, so they have nothing
    // newer than what the reader sees.
    const auto tables = list_tables(*of_.store.db);
    if (!tables)
      return tables.error();
    auto how = checked_read();
    how.fill_cache = false;
    const std::unique_ptr<leveldb::Iterator> live{
      of_.store.db->NewIterator(how)};
    std::vector<dead_rows> out;
    for (const auto& x : *tables) {
      if (x.largest < range_.begin || x.smallest >= range_.end)
        continue;
      auto found = look_into(x, *live);
      if (!found && !of_.store.env->env()->FileExists(path_of(x.number))) {
        moved_ = true;
        continue;
      }
      if (!found)
        return found.error();
      if (*found)
        out.push_back(std::move(**found));
    }
    return out;
  }

  result<std::optional<dead_rows>> look_into(const table_file& x,
                                             leveldb::Iterator& live) const {
    open_table table;
    const auto& directory = of_.store.options.directory;
    const auto opened = table.open(of_.store.env->env(), path_of(x.number));
    if (!opened.ok())
      return from_status(directory, opened);
    auto& rows = *table.rows;
    std::optional<dead_rows> out;
    live.Seek(slice(range_.begin));
    for (rows.Seek(slice(range_.begin + std::string(trailer_size, '\xff')));
         rows.Valid() && user_key(rows.key()) < range_.end; rows.Next()) {
      if ((trailer(rows.key()) & kind_mask) == deletion)
        continue;
      const auto key = user_key(rows.key());
      while (live.Valid() && view(live.key()) < key)
        live.Next();
      if (live.Valid() && view(live.key()) == key
          && live.value() == rows.value())
        continue;
      if (!out)
        out.emplace().first = key;
      out->last = key;
    }
    for (const auto& status : {rows.status(), live.status()})
      if (!status.ok())
        return from_status(directory, status);
    return out;
  }

  /// Deletions beside the first dead key move down level by level, and each
  /// level is merged into the next, until they reach the table.
  result<void> rewrite(const std::vector<dead_rows>& all) {
    leveldb::WriteBatch marks;
    for (const auto& x : all) {
      marks.Delete(just_before(x.first));
      marks.Delete(just_after(x.first));
    }
    if (const auto x = of_.store.db->Write({}, &marks); !x.ok()) {
      of_.fail_for_good(from_status(of_.store.options.directory, x));
      return from_status(of_.store.options.directory, x);
    }
    for (const auto& x : all) {
      const auto first = just_before(x.first);
      const auto last = just_after(x.last);
      const auto begin = slice(first);
      const auto end = slice(last);
      of_.store.db->CompactRange(&begin, &end);
    }
    return {};
  }

  /// The largest number of a table or log.
  result<uint64_t> newest_file() const {
    std::vector<std::string> names;
    const auto& directory = of_.store.options.directory;
    if (const auto x = of_.store.env->env()->GetChildren(directory, &names);
        !x.ok())
      return from_status(directory, x);
    uint64_t out = 0;
    for (const auto& name : names)
      out = std::max(out, number_of(name).value_or(0));
    return out;
  }

  /// True while there is a file with a number up to `newest` that is no table
  /// in use: a log, or a table that a reader needs.
  result<bool> is_left(uint64_t newest) const {
    const auto tables = list_tables(*of_.store.db);
    if (!tables)
      return tables.error();
    std::vector<std::string> names;
    const auto& directory = of_.store.options.directory;
    if (const auto x = of_.store.env->env()->GetChildren(directory, &names);
        !x.ok())
      return from_status(directory, x);
    return std::ranges::any_of(names, [&](const std::string& name) {
      const auto number = number_of(name);
      return number && *number <= newest
             && std::ranges::find(*tables, *number, &table_file::number)
                  == tables->end();
    });
  }

  std::string path_of(uint64_t table) const {
    char name[32];
    std::snprintf(name, sizeof name, "/%06llu.ldb",
                  static_cast<unsigned long long>(table));
    return of_.store.options.directory + name;
  }

  database::impl& of_;
  const key_range& range_;
  bool moved_ = false; ///< A table was gone before it could be read.
};

} // namespace

result<bool> purge_tables(database::impl& of, const key_range& range) {
  return table_purge{of, range}.run();
}

} // namespace weir::storage
