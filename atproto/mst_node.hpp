#pragma once

#include "atproto/mst.hpp"

/// Reading and writing of single node blocks, below trees, builders and walks.
namespace weir::atproto::mst {

/// Reads one node block in place, entry by entry, building nothing.
///
/// # Ownership and threads
/// Borrows the block; one thread. Meant to be used again and again: its key
/// buffer stays.
///
/// # Errors
/// `ec::malformed`, `ec::limit_reached`.
class node_reader {
public:
  /// Checks all of a node that shows in its bytes (protocol-coverage.md 5.1):
  /// closed and canonical form, longest shared prefixes, growing keys, link
  /// forms, limits. Depths need hashing and are left to the caller; so is the
  /// question whether a node without entries may stand where it stands.
  result<void> open(bytes_view block);

  /// Entries in the whole node.
  size_t size() const noexcept { return size_; }

  /// Binary CID of the subtree before the first key; empty when null.
  bytes_view left() const noexcept { return left_; }

  /// Steps to the next entry; false behind the last one.
  /// @pre `open` succeeded
  bool next();

  /// The whole key of the current entry; valid until the next step.
  std::string_view key() const noexcept { return key_; }

  /// Binary CID of the current entry's record, in whatever form it came.
  bytes_view value() const noexcept { return entry_.value; }

  /// Binary CID of the subtree after the current key; empty when null.
  bytes_view right() const noexcept { return entry_.right; }

  /// One entry as encoded.
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
  size_t left_over_ = 0; ///< Entries not yet stepped to.
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

  /// The block; valid until the next call. `left` as in `add`.
  bytes_view finish(bytes_view left);

  /// Starts a new node.
  void clear() noexcept;

private:
  uint8_t* grow(size_t size);

  bytes out_;       ///< Room for the longest head, the entries, room to grow.
  size_t end_;      ///< Of what is written.
  std::string key_; ///< The last one added.
  size_t size_ = 0;
};

/// Bytes that two keys share at their front.
size_t shared_prefix(std::string_view x, std::string_view y) noexcept;

/// A CID that `node_reader` accepted.
cid to_cid(bytes_view binary);

} // namespace weir::atproto::mst
