#pragma once

#include "storage/disk/database.hpp"
#include "storage/log/operation_store.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weir::apps {

/// The operations of one repo in a directory that no program uses: a data
/// directory, or an export. Open to read only.
///
/// # Ownership and threads
/// Owns the stores. One thread.
class closed_log {
public:
  static result<closed_log> open(const std::string& directory,
                                 const atproto::did& repo);

  const storage::operation_store& store() const noexcept { return *store_; }

private:
  std::vector<std::unique_ptr<storage::database>> databases_;
  std::unique_ptr<storage::operation_store> store_;
};

} // namespace weir::apps
