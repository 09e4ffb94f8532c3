#pragma once

#include "storage/format/key_codec.hpp"
#include "storage/format/records.hpp"
#include "storage/format/update.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Encodes and decodes rows. Every value begins with a format byte. Decoding
/// checks every bound, never throws, and names the table in its error
/// (docs/storage-format.md 3).
namespace weir::storage {

// -- scopes -------------------------------------------------------------------

/// Ids of scopes inside a store. Below `first_collection_id` are the reserved
/// `$` scopes; from there on are ids that the writer gave to collections. On
/// disk.
constexpr uint32_t commit_scope_id = 1;
constexpr uint32_t identity_scope_id = 2;
constexpr uint32_t account_scope_id = 3;
constexpr uint32_t local_scope_id = 4;
constexpr uint32_t first_collection_id = 16;

/// `is_event_scope` for the id of a scope.
constexpr bool is_event_scope(uint32_t scope) noexcept {
  return scope >= first_collection_id || scope == identity_scope_id
         || scope == account_scope_id;
}

/// Branches of a stream. On disk.
constexpr uint16_t main_branch = 0; ///< Verified history.
/// Operations that failed verification for good.
constexpr uint16_t denied_branch = 1;
/// Histories from here on are signed but contradict each other.
constexpr uint16_t first_fork_branch = 16;

/// Names and ids of the collections of one store. Codecs borrow it.
class collection_names {
public:
  virtual ~collection_names() = default;

  virtual std::optional<uint32_t> id_of(std::string_view name) const = 0;

  virtual std::optional<std::string> name_of(uint32_t id) const = 0;

  /// True for an id that has a name or had one that was removed.
  virtual bool was_given(uint32_t id) const = 0;
};

/// Id of a collection or `$` scope; empty when the collection has none yet.
std::optional<uint32_t> scope_id(const collection_names& names,
                                 std::string_view scope);

/// Name of a collection or `$` scope; empty when the id has no name.
std::optional<std::string> scope_name(const collection_names& names,
                                      uint32_t id);

// -- the log ------------------------------------------------------------------

/// What one block appends to one stream: operations from `first_index` on, in
/// the order of the block.
struct block_stream {
  uint32_t scope = 0;
  uint16_t branch = main_branch;
  uint64_t first_index = 0;
  atproto::digest previous{}; ///< Hash of the stream before; zeros at index 0.

  bool operator==(const block_stream&) const = default;
};

struct block_operation {
  uint32_t stream = 0; ///< Index into `log_block::streams`.
  atproto::op_action action = atproto::op_action::create;
  bool undecodable = false; ///< The block was no valid record.
  uint32_t skip = 0;
  std::string rkey;
  atproto::cid id;
  uint64_t content = 0; ///< Content number; 0 when no bytes were stored.
  /// The operation that wrote the version of the record which this one replaces
  /// or deletes; 0 when there was none.
  op_id replaced = 0;

  bool operator==(const block_operation&) const = default;
};

/// One transaction as it is stored. The ids of its operations follow from the
/// key, and their indices from `streams`. op_ids and stream hashes are derived
/// (`hashes.hpp`).
///
/// # Limits
/// 1 to `limits::transaction_ops_max` operations.
struct log_block : log_envelope {
  bytes cause; ///< Digest of the operation appended again; usually empty.
  atproto::digest previous{}; ///< `block_hash` of the block before, or zeros.
  std::vector<block_stream> streams;
  std::vector<block_operation> ops;

  bool operator==(const log_block&) const = default;

  /// How many of its operations are events.
  uint64_t events() const noexcept;
};

/// Encodes the block, with a CRC32C at the end. Fails with `ec::limit_reached`
/// or `ec::invalid_argument` when the block breaks a rule of the format.
result<std::string> encode_log_block(const log_block& x);

/// Decodes and checks the CRC32C. Any changed byte is `ec::storage_failure`.
result<log_block> decode_log_block(std::string_view x);

// -- chain: needs the collection table ----------------------------------------

/// The content of a chain's own row. Streams with rows of their own are only
/// counted here; `load_chain` reads them all.
struct stored_chain {
  chain_row chain;
  uint64_t apart = 0;            ///< Number of streams that are not in `chain`.
  uint64_t apart_operations = 0; ///< Their operations, all together.
};

/// `ec::not_found` when the collection of a stream has no id yet.
result<std::string> encode_chain(const chain_row& x,
                                 const collection_names& names);

result<stored_chain> decode_chain(std::string_view x,
                                  const collection_names& names);

// -- all other rows -----------------------------------------------------------

/// A number, such as an id or a count.
struct counter {
  uint64_t value = 0;
};

/// Opaque bytes with a CRC32C.
struct stored_bytes {
  bytes value;
};

/// A frame that waits for its repo, with its stamp.
struct waiting_row {
  position at;
  uint64_t first_cursor = 0;
  bool relay = false;
  stored_bytes frame; ///< Must be the last field: it takes the rest.
};

/// Value of a stream block: the operations of this scope and branch in the log
/// block `block`, in the order of the stream.
struct stream_run {
  op_id block = 0; ///< First id of the log block.
  uint32_t count = 0;
};

/// Value of a stream that is stored apart from its chain.
struct stream_head_row {
  uint64_t next_index = 0;
  atproto::digest hash{};
  uint64_t records = 0;
};

/// The rows are record_head, repo_row, member_row, upstream_row, identity_row,
/// export_row, consumer_row, dead_letter_row, filter_row, log_epochs_row,
/// erasure_row, purge_row, holder_row, collection_row, and those above.
template <class Row>
std::string encode_value(const Row& x);

/// `ec::storage_failure` unless `x` is exactly what `encode_value` writes. `in`
/// names the table in errors, for the rows that several tables use (`counter`,
/// `stored_bytes`).
template <class Row>
result<Row> decode_value(std::string_view x, table in = {});

} // namespace weir::storage
