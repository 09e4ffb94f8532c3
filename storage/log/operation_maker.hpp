#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/hashes.hpp"
#include "storage/log/content_reader.hpp"
#include "storage/log/stored_operation.hpp"

#include <map>
#include <tuple>
#include <unordered_map>

namespace weir::storage {

/// Makes operations of the blocks in which they are stored: derives their
/// hashes, reads their bodies, and finds out what was erased. Blocks of one
/// stream should come in their order, which saves reads.
///
/// # Ownership and threads
/// Borrows the database and names. One thread, for one call of a reader: what
/// it remembers grows with the operations that it makes.
///
/// # Errors
/// `ec::storage_failure` when a body, a name or a block of the stream is
/// missing that must be there.
class operation_maker {
public:
  operation_maker(const database& db, const collection_names& names,
                  uint16_t partition, bool with_content)
    : db_(db), names_(names), partition_(partition),
      with_content_(with_content), contents_(db, partition) {}

  /// The operations to make next are those of this block.
  /// @param block Must outlive the calls of `make` for it.
  void enter(op_id first, const log_block& block);

  /// Makes the operation that has this place in the block.
  result<stored_operation> make(size_t place);

  /// Whether the operation of the repo was erased, or is to be.
  result<bool> is_erased(const atproto::did& repo, op_id id);

private:
  /// One stream of the block.
  struct part {
    bool known = false;  ///< `scope` was looked up.
    bool hashed = false; ///< `hashes` are those of its operations.
    std::optional<std::string> scope;
    uint64_t next = 0; ///< Index of the next operation that is hashed.
  };

  /// The last operation that was made of a stream.
  struct stream_tail {
    uint64_t index = 0;
    atproto::digest operation{};
  };

  using stream_place = std::tuple<atproto::did, uint32_t, uint16_t>;

  result<part*> part_of(uint32_t stream);
  result<void> hash_stream(uint32_t stream, part& of);
  result<std::optional<atproto::digest>> digest_before(uint32_t stream);
  result<std::optional<atproto::digest>>
  read_digest_before(const block_stream& stream);
  result<op_id> load_erased_through(const atproto::did& repo);
  result<bool> is_before_horizon(op_id content);
  result<void> add_body(const block_operation& op, stored_operation& to);
  atproto::digest digest_of(const log_block& block, const block_operation& op,
                            std::string_view scope, uint64_t index);

  const database& db_;
  const collection_names& names_;
  uint16_t partition_;
  bool with_content_;
  content_reader contents_;
  log_hasher hasher_;
  std::map<stream_place, stream_tail> tails_;
  std::unordered_map<atproto::did, op_id> erased_through_;
  std::optional<op_id> replaced_through_; ///< Set by the first read.

  // -- the block --------------------------------------------------------------

  op_id first_ = 0;
  const log_block* block_ = nullptr;
  std::shared_ptr<const stored_transaction> transaction_;
  std::vector<part> parts_;              ///< One for each stream.
  std::vector<uint64_t> indices_;        ///< One for each operation.
  std::vector<operation_hashes> hashes_; ///< The same.
};

} // namespace weir::storage
