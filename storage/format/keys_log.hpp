#pragma once

#include "storage/format/key_codec.hpp"
#include "storage/format/records.hpp"

/// Keys of the log and of the tables that are derived from it.
namespace weir::storage {

/// One transaction of the log; value: `log_block`.
struct log_block_key {
  static constexpr auto in = table::log_block;
  uint16_t partition = 0;
  op_id first = 0;

  static auto parts(auto& x) { return std::tie(x.partition, x.first); }
};

/// The bodies of one transaction; value: `content_block`.
struct content_block_key {
  static constexpr auto in = table::content_block;
  uint16_t partition = 0;
  uint64_t first = 0; ///< A content number.

  static auto parts(auto& x) { return std::tie(x.partition, x.first); }
};

/// The part of a stream that one transaction wrote; value: `stream_run`.
struct stream_block_key {
  static constexpr auto in = table::stream_block;
  atproto::did repo;
  uint32_t scope = 0;  ///< `scope_id` of values.hpp.
  uint16_t branch = 0; ///< `main_branch` of values.hpp, or another.
  uint64_t first_index = 0;

  static auto parts(auto& x) {
    return std::tie(x.repo, x.scope, x.branch, x.first_index);
  }
};

/// The proved history of a repo; value: `chain_row` for scope 0, and
/// `stream_head_row` for the scope of a stream that is stored apart.
struct chain_key {
  static constexpr auto in = table::chain;
  atproto::did repo;
  uint32_t scope = 0;
  uint16_t branch = 0;

  static auto parts(auto& x) { return std::tie(x.repo, x.scope, x.branch); }
};

/// The current version of a record; value: `record_head`.
struct record_head_key {
  static constexpr auto in = table::record_head;
  uint16_t partition = 0;
  atproto::did repo;
  uint32_t collection = 0;
  record_key rkey;

  static auto parts(auto& x) {
    return std::tie(x.partition, x.repo, x.collection, x.rkey);
  }
};

/// A repo that has rows of a collection; value: `holder_row`.
struct collection_member_key {
  static constexpr auto in = table::collection_member;
  uint16_t partition = 0;
  uint32_t collection = 0;
  atproto::did repo;

  static auto parts(auto& x) {
    return std::tie(x.partition, x.collection, x.repo);
  }
};

/// A current record whose head uses some content; value: `counter` (content
/// number). Written without a read: the number of rows is the reference count.
struct content_reference_key {
  static constexpr auto in = table::content_reference;
  short_hash content{};
  uint16_t partition = 0;
  op_id id = 0;

  static auto parts(auto& x) { return std::tie(x.content, x.partition, x.id); }
};

/// The first operation written in a minute; value: `counter` (operation id).
struct time_index_key {
  static constexpr auto in = table::time_index;
  uint16_t partition = 0;
  uint32_t minute = 0; ///< Minutes since 1970, by the node's clock.

  static auto parts(auto& x) { return std::tie(x.partition, x.minute); }
};

/// A version of a record that was replaced and is older than `log_retention`,
/// but whose content a consumer still needs; no value.
struct kept_content_key {
  static constexpr auto in = table::kept_content;
  uint16_t partition = 0;
  op_id id = 0; ///< The operation that wrote the version.

  static auto parts(auto& x) { return std::tie(x.partition, x.id); }
};

} // namespace weir::storage
