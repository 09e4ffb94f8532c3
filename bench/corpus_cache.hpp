#pragma once

#include "base/error.hpp"
#include "simnet/options.hpp"

#include <filesystem>

namespace weir::bench {

/// A corpus on disk, and what a node must have in the end.
struct corpus_facts {
  std::filesystem::path path;
  size_t accounts = 0;
  uint64_t records = 0; ///< Records before the live events.
  uint64_t events = 0;
  uint64_t commits = 0;
  int64_t last_seq = 0; ///< The relay's last seq.
};

/// Finds the corpus of these options in `dir`, or makes it there. Its name
/// contains everything that its content depends on, except the code that makes
/// it. Errors: `storage_failure`, `malformed` for a damaged file.
result<corpus_facts> find_corpus(const std::filesystem::path& dir,
                                 const simnet::population_options& population,
                                 size_t events);

} // namespace weir::bench
