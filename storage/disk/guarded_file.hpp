#pragma once

#include "storage/disk/safe_env.hpp"

#include <memory>
#include <string>

/// The files of `safe_env`, its text log among them; only safe_env.cpp includes
/// it.
namespace weir::storage {

/// How files report to the Env that they belong to. It outlives them.
class write_guard {
public:
  virtual ~write_guard() = default;

  /// Not ok after anything has failed.
  virtual leveldb::Status healthy() const = 0;

  /// Returns the status. One that is not ok poisons the Env.
  virtual leveldb::Status check(leveldb::Status x) = 0;

  /// Makes the entry of `name` in its directory durable.
  virtual leveldb::Status sync_parent(const std::string& name) = 0;

  /// What each change of a file passes.
  virtual file_gate& gate() = 0;
};

enum class file_kind : uint8_t { log, manifest, other };

/// Wraps `base` so that it follows the rules of `safe_env`. The caller owns the
/// result.
leveldb::WritableFile* guarded_file(std::unique_ptr<leveldb::WritableFile> base,
                                    std::string name, file_kind kind,
                                    write_guard& owner);

/// A text log that begins anew at `bytes_max` bytes and keeps one predecessor,
/// `<name>.old`. Its failures are ignored. The caller owns the result.
leveldb::Logger* bounded_logger(leveldb::Env& files, std::string name,
                                uint64_t bytes_max);

} // namespace weir::storage
