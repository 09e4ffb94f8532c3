#pragma once

#include "atproto/cid.hpp"
#include "atproto/limits.hpp"

#include <functional>
#include <span>
#include <vector>

namespace weir::atproto {

/// One block of a CAR; `data` borrows from the buffer it was parsed from.
struct car_block {
  cid id;
  bytes_view data;
};

/// A whole CAR in memory: the slice inside a frame (protocol-coverage.md 2.2).
///
/// # Ownership and threads
/// Borrows the bytes. Read-only after `parse`, any thread.
///
/// # Limits
/// Section, header and root limits of `limits.hpp`; `blocks_max` blocks.
class car_slice {
public:
  /// Parses header and block index; hashes nothing.
  static result<car_slice> parse(bytes_view x, size_t blocks_max
                                               = limits::frame_car_blocks_max);

  const std::vector<cid>& roots() const noexcept { return roots_; }

  std::span<const car_block> blocks() const noexcept { return blocks_; }

  /// First block with this CID, or null. Blocks under anything but a SHA-256
  /// CID cannot be checked and are never found.
  const car_block* find(const cid& id) const noexcept;

  /// Checks that every block's bytes hash to its CID (`ec::
  /// verification_failed` names the block).
  result<void> check_hashes() const;

private:
  result<void> index();

  std::vector<cid> roots_;
  std::vector<car_block> blocks_;
  std::vector<uint32_t> table_; ///< Open addressing: block number + 1 or 0.
};

/// Streaming CAR reader for bodies of any size and any chunking. Feed bytes,
/// receive blocks; holds at most one section.
///
/// # Errors
/// After an error every further call returns the same error.
class car_reader {
public:
  /// @param on_block Receives each block with its hash checked; `offset` is
  /// where its data starts in the whole file. An error it returns ends the
  /// reading. Blocks under anything but a SHA-256 CID cannot be checked and
  /// are passed over.
  using block_handler = std::function<result<void>(
    const cid& id, bytes_view data, uint64_t offset)>;

  explicit car_reader(block_handler on_block);

  result<void> feed(bytes_view chunk);

  /// The body ended: fails when a section was cut off or there is no header.
  result<void> finish() const;

  /// Filled once the header was read.
  const std::vector<cid>& roots() const noexcept { return roots_; }

  uint64_t bytes_read() const noexcept { return consumed_; }

  uint64_t blocks_read() const noexcept { return blocks_; }

private:
  result<void> step(bytes_view& input);
  size_t section_bytes_max() const noexcept;
  result<size_t> lacking_bytes() const;
  result<void> finish_pending();
  result<void> take_section(bytes_view section);
  result<void> take_header(bytes_view section);
  result<void> take_block(bytes_view section);

  block_handler on_block_;
  std::vector<cid> roots_;
  bytes pending_; ///< Bytes of an unfinished section, with its length prefix.
  uint64_t consumed_ = 0;
  uint64_t blocks_ = 0;
  bool header_done_ = false;
  error failed_;
};

/// Writes CARs: header with `roots`, then blocks as they are added.
class car_writer {
public:
  explicit car_writer(std::span<const cid> roots);

  void add(const cid& id, bytes_view data);

  /// Bytes written since the last `take`.
  bytes take() noexcept { return std::move(out_); }

  size_t size() const noexcept { return out_.size(); }

private:
  bytes out_;
};

} // namespace weir::atproto
