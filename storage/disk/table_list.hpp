#pragma once

#include "base/error.hpp"

#include <leveldb/db.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The tables of an open LevelDB. Included by `database*.cpp` and
/// `table_purge*.cpp` only.
namespace weir::storage {

/// One file `<number>.ldb`, with its first and last key.
struct table_file {
  uint64_t number = 0;
  std::string smallest;
  std::string largest;
};

/// Those in use now; files that only a reader still holds are not among them.
/// @returns `ec::storage_failure` when LevelDB says it in other words than
///          version 1.23.
result<std::vector<table_file>> list_tables(leveldb::DB& db);

/// The same, of LevelDB's text: a line for each level, and one for each table
/// like ` 17:123['a' @ 5 : 1 .. 'd' @ 7 : 0]`. Bytes of keys that cannot be
/// printed are written as `\x0f`.
result<std::vector<table_file>> parse_tables(std::string_view text);

} // namespace weir::storage
