#pragma once

#include "atproto/cid.hpp"
#include "atproto/limits.hpp"

#include <functional>
#include <span>
#include <vector>

namespace weir::atproto {

/// One block of a CAR. `data` borrows from the buffer that was parsed.
struct car_block {
  cid id;
  bytes_view data;
};

/// A whole CAR in memory, such as the `blocks` of a frame (protocol-coverage.md
/// 2.2).
///
/// # Ownership and threads
/// Borrows the bytes. Any thread may read it after `parse`.
///
/// # Limits
/// The limits of sections, header and roots in `limits.hpp`, and `blocks_max`.
class car_slice {
public:
  /// Parses the header and indexes the blocks. It checks no hashes.
  static result<car_slice> parse(bytes_view x, size_t blocks_max
                                               = limits::frame_car_blocks_max);

  const std::vector<cid>& roots() const noexcept { return roots_; }

  std::span<const car_block> blocks() const noexcept { return blocks_; }

  /// The first block with this CID, or null. Only blocks with a SHA-256 CID are
  /// found, since no other kind can be checked.
  const car_block* find(const cid& id) const noexcept;

  /// Checks that the bytes of every block hash to its CID. Otherwise the error
  /// is `ec::verification_failed` and names the block.
  result<void> check_hashes() const;

private:
  result<void> index();

  std::vector<cid> roots_;
  std::vector<car_block> blocks_;
  std::vector<uint32_t> table_; ///< Open addressing: block number + 1 or 0.
};

/// Reads a CAR of any size as it arrives, in chunks of any size, and hands out
/// its blocks. It keeps at most one section in memory.
///
/// # Errors
/// After an error every further call returns the same error.
class car_reader {
public:
  /// @param on_block Receives each block after its hash was checked; `offset`
  /// is where its data starts in the whole file. An error it returns ends the
  /// reading. Blocks without a SHA-256 CID cannot be checked and are skipped.
  using block_handler = std::function<result<void>(
    const cid& id, bytes_view data, uint64_t offset)>;

  explicit car_reader(block_handler on_block);

  result<void> feed(bytes_view chunk);

  /// Call this at the end of the body. Fails when a section is cut off or there
  /// is no header.
  result<void> finish() const;

  /// The roots; empty until the header was read.
  const std::vector<cid>& roots() const noexcept { return roots_; }

  uint64_t blocks_read() const noexcept { return blocks_; }

private:
  result<void> step(bytes_view& input);
  result<size_t> section_size(bytes_view& x) const;
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

/// Writes a CAR: a header with `roots`, then the blocks in the order of `add`.
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
