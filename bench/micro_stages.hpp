#pragma once

#include "atproto/frame.hpp"
#include "atproto/signature.hpp"
#include "bench/micro.hpp"
#include "simnet/corpus_file.hpp"

#include <memory>

namespace weir::bench {

/// The input of the stages: live commits and the largest repo of a corpus.
struct micro_input {
  struct commit {
    shared_bytes frame;
    atproto::commit_event event; ///< Borrows from `frame`.
    atproto::public_key key;
  };

  std::vector<commit> commits;
  std::vector<bytes_view> records; ///< Blocks of the commits.
  atproto::did repo;
  atproto::public_key repo_key;
  shared_bytes repo_car;

  /// Loads at most `commits_max` commits. Errors: those of the corpus.
  static result<std::shared_ptr<const micro_input>>
  load(const corpus_facts& corpus, size_t commits_max);
};

using micro_input_ptr = std::shared_ptr<const micro_input>;

/// Signatures, hashes, CARs, commits and records, all in memory.
std::vector<stage> make_protocol_stages(const micro_input_ptr& input);

/// Writes commits to a store in `dir`, in durable batches of a hundred.
result<stage> make_store_stage(const micro_input_ptr& input,
                               const std::filesystem::path& dir);

} // namespace weir::bench
