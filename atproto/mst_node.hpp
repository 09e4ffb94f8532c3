#pragma once

#include "atproto/mst.hpp"

#include <string>

/// Reads and writes the blocks of single nodes. Trees, builders and walks use
/// it.
namespace weir::atproto::mst {

/// Reads the block of a node in place, entry by entry, without building
/// anything.
///
/// # Ownership and threads
/// Borrows the block; one thread. Use one reader for many nodes: it keeps its
/// key buffer.
///
/// # Errors
/// `ec::malformed`, `ec::limit_reached`.
class node_reader {
public:
  /// Checks everything of a node that shows in its bytes (protocol-coverage.md
  /// 5.1): a closed schema in canonical form, longest shared prefixes, growing
  /// keys, the form of links, limits. The caller checks the depths, which need
  /// hashing, and whether a node without entries is allowed at its place.
  /// Record paths of wrong syntax are accepted.
  result<void> open(bytes_view block);

  /// Number of entries in the whole node.
  size_t size() const noexcept { return size_; }

  /// Binary CID of the subtree before the first key; empty when null.
  bytes_view left() const noexcept { return left_; }

  /// Moves to the next entry; false after the last one.
  /// @pre `open` succeeded
  bool next();

  /// The whole key of the current entry, valid until the next call of `next`.
  std::string_view key() const noexcept { return key_; }

  /// The binary CID of the current entry's record, in any form.
  bytes_view value() const noexcept { return entry_.value; }

  /// Binary CID of the subtree after the current key; empty when null.
  bytes_view right() const noexcept { return entry_.right; }

  /// One entry as it is encoded.
  struct raw_entry {
    uint64_t prefix = 0;
    std::string_view suffix;
    bytes_view value;
    bytes_view right;
  };

private:
  result<void> check_entries(const uint8_t*& at, const uint8_t* end);

  bytes_view block_;
  const uint8_t* at_ = nullptr; ///< Next entry.
  size_t size_ = 0;
  size_t left_over_ = 0; ///< Number of entries that `next` has not reached.
  bytes_view left_;
  raw_entry entry_;
  std::string key_;
};

/// Writes one node block, entry by entry, in canonical form.
class node_writer {
public:
  node_writer();

  /// @pre `key` is greater than the one before
  /// @param right Binary CID of the subtree after the key; empty when null.
  void add(std::string_view key, bytes_view value, bytes_view right);

  /// The finished block, valid until the next call. `left` is like `right` in
  /// `add`.
  bytes_view finish(bytes_view left);

  /// Begins a new node.
  void clear() noexcept;

private:
  uint8_t* grow(size_t size);

  bytes out_;       ///< Starts with room for the longest head.
  size_t end_;      ///< Where the written bytes end.
  std::string key_; ///< The key that was added last.
  size_t size_ = 0;
};

/// Length of the common prefix of two keys, in bytes.
size_t shared_prefix(std::string_view x, std::string_view y) noexcept;

/// Wraps a binary CID that `node_reader` accepted.
cid to_cid(bytes_view binary);

} // namespace weir::atproto::mst
