#pragma once

#include "base/error.hpp"
#include "simnet/options.hpp"

#include <filesystem>

namespace weir::bench {

/// A corpus on disk, and what a node must have made of it in the end.
struct corpus_facts {
  std::filesystem::path path;
  size_t accounts = 0;
  uint64_t records = 0; ///< Before the live part.
  uint64_t events = 0;
  uint64_t commits = 0;
  int64_t last_seq = 0; ///< Of the relay.
};

/// The corpus of these options: from `dir`, or made and kept there. Its name
/// holds all that its content depends on but the code that makes it.
/// Errors: `storage_failure`.
result<corpus_facts> find_corpus(const std::filesystem::path& dir,
                                 const simnet::population_options& population,
                                 size_t events);

} // namespace weir::bench
