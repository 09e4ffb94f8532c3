#pragma once

#include "base/error.hpp"

#include <leveldb/db.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The tables of an open LevelDB; only `database*.cpp` and `table_purge*.cpp`
/// include it.
namespace weir::storage {

/// One file `<number>.ldb` with its first and last key.
struct table_file {
  uint64_t number = 0;
  std::string smallest;
  std::string largest;
};

/// The tables in use now, without files that only a reader still needs.
/// @returns `ec::storage_failure` when LevelDB's text differs from that of
/// version 1.23.
result<std::vector<table_file>> list_tables(leveldb::DB& db);

/// Reads LevelDB's text: a line for each level, and for each table a line like
/// ` 17:123['a' @ 5 : 1 .. 'd' @ 7 : 0]`. Bytes that cannot be printed are
/// written as `\x0f`.
result<std::vector<table_file>> parse_tables(std::string_view text);

} // namespace weir::storage
