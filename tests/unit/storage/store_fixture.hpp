#pragma once

#include "base/log.hpp"
#include "base/random.hpp"
#include "storage/disk/database.hpp"
#include "storage/disk/safe_env.hpp"
#include "storage/format/values.hpp"
#include "tests/support/fault_env.hpp"
#include "tests/support/memory_disk.hpp"
#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

// Stores for tests: small buffers, so that logs rotate and tables appear.

namespace weir::tests {

/// These tests cause errors on purpose, so the log is off.
inline const bool store_log_is_quiet
  = (log::configure(log::level::off, log::format::text), true);

inline constexpr const char* store_directory = "/data/store-0";

struct store_settings {
  std::string directory = store_directory;
  size_t write_buffer_bytes = 65'536;
  storage::access_mode access = storage::access_mode::owner;
  uint64_t seed = 1;
  std::function<void(const error&)> on_failure = {};
};

inline result<std::unique_ptr<storage::database>>
open_store(storage::disk_env* disk, const store_settings& how = {}) {
  const auto random = seeded_random(how.seed);
  storage::database_options options;
  options.directory = how.directory;
  options.access = how.access;
  options.random = random.get();
  options.disk = disk;
  options.write_buffer_bytes = how.write_buffer_bytes;
  options.block_cache_bytes = 1'048'576;
  options.on_failure = how.on_failure;
  return storage::database::open(std::move(options));
}

/// Row `i` of a test: its key sorts by `i`.
inline std::string row_key(uint64_t i) {
  return storage::encode_key(
    storage::time_index_key{9, static_cast<uint32_t>(i)});
}

/// 400 bytes that depend on `i` and cannot be compressed.
inline std::string row_value(uint64_t i) {
  const auto random = seeded_random(i);
  std::string out;
  while (out.size() < 400) {
    const auto word = random->next();
    out.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  return out;
}

inline result<void> put_row(storage::database& store, uint64_t i,
                            storage::sync_mode sync
                            = storage::sync_mode::durable) {
  storage::write_batch batch;
  batch.put(row_key(i), row_value(i));
  return store.write(batch, sync);
}

/// True when row `i` is there; a wrong value or a failed read fails the test.
inline bool has_row(const storage::database& store, uint64_t i) {
  const auto value = store.get(row_key(i));
  EXPECT_TRUE(value) << value.error().context;
  if (!value || !*value)
    return false;
  EXPECT_EQ(**value, row_value(i)) << "row " << i;
  return true;
}

/// Number of rows from 0 without a hole; the test fails when there are rows
/// after a hole.
inline uint64_t dense_rows(const storage::database& store, uint64_t tried) {
  uint64_t out = 0;
  while (out < tried && has_row(store, out))
    ++out;
  for (auto i = out + 1; i < tried; ++i)
    EXPECT_FALSE(has_row(store, i)) << "a hole at row " << out;
  return out;
}

/// Names of files with this ending, without their directory.
inline std::vector<std::string> files_like(const memory_disk& disk,
                                           std::string_view end) {
  std::vector<std::string> out;
  for (const auto& name : disk.names())
    if (name.ends_with(end))
      out.push_back(name.substr(name.rfind('/') + 1));
  return out;
}

inline std::string path_of(const std::string& name) {
  return std::string{store_directory} + "/" + name;
}

/// The content of all files of a disk.
inline std::map<std::string, std::string> content_of(const memory_disk& disk) {
  std::map<std::string, std::string> out;
  for (const auto& name : disk.names())
    out[name] = disk.read(name);
  return out;
}

} // namespace weir::tests
