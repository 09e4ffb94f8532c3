#pragma once

#include "atproto/limits.hpp"
#include "atproto/spool.hpp"

#include <functional>
#include <vector>

namespace weir::atproto {

/// Where the data of a block lies in a spool.
struct block_place {
  uint64_t offset = 0;
  size_t size = 0;
};

/// Finds blocks of a CAR by their digest: 16 bytes a block, in sorted runs.
/// While they fit, the runs stay in memory; beyond `entries_max` they go to a
/// spool and are merged into one there, found by one read of a page.
///
/// A digest is known by its first eight bytes, so a lookup gives candidates to
/// compare. Blocks that have these bytes and the size in common count as the
/// same block.
///
/// # Limits
/// Memory: `entries_max` * 16 bytes, then 5 KiB a run while merging and 32
/// bytes for 1,024 blocks after it. Offsets below 2^40, sizes below 2^24.
///
/// # Threads
/// One thread. No call sorts more than one run or merges more than it is told.
class block_index {
public:
  /// @param overflow Where runs beyond `entries_max` go; outlives the index.
  /// @param run_entries Entries of one run.
  explicit block_index(spool& overflow,
                       size_t entries_max = limits::walk_index_entries_max,
                       size_t run_entries = limits::walk_index_run_entries);

  result<void> add(const uint8_t* digest, block_place at);

  /// All blocks are added. Prepares the search by merging up to `work_max`
  /// entries; true when `find` may be called, else call again.
  result<bool> prepare(size_t work_max);

  /// Says whether a candidate is the block looked for.
  using candidate_check = std::function<result<bool>(block_place)>;

  /// Offers candidates until one fits; false when none did.
  /// @pre `prepare` returned true
  result<bool> find(const uint8_t* digest, const candidate_check& fits);

private:
  struct entry {
    uint64_t word = 0;  ///< First eight bytes of the digest.
    uint64_t place = 0; ///< Size, then offset in 40 bits.

    friend bool operator<(const entry& x, const entry& y) noexcept {
      return x.word != y.word ? x.word < y.word : x.place < y.place;
    }

    block_place get() const noexcept;
    bool same_block(const entry& x) const noexcept;
  };

  using run = std::vector<entry>;

  /// A sorted run in the spool, read in pages.
  struct spooled_run {
    uint64_t offset = 0; ///< Of what is not yet in `page`.
    uint64_t left = 0;   ///< Entries not yet in `page`.
    run page;
    size_t at = 0; ///< Next entry of `page`.
  };

  /// Order of the heap: the run whose next entry is least comes out first.
  auto later() const noexcept {
    return [this](size_t x, size_t y) {
      const auto& a = spooled_[x];
      const auto& b = spooled_[y];
      return b.page[b.at] < a.page[a.at];
    };
  }

  result<void> close_run();
  result<void> spill(const run& x);
  result<void> refill(spooled_run& x);
  result<void> merge_one();
  result<void> start_merge();
  result<void> flush_page();
  result<run> read_page(uint64_t offset, size_t entries);
  result<bool> find_spooled(uint64_t word, const candidate_check& fits);

  spool& overflow_;
  size_t entries_max_;
  size_t run_entries_;
  size_t entries_ = 0; ///< In `runs_`.
  run open_;
  std::vector<run> runs_;
  size_t last_hit_ = 0; ///< Run that had the last block found.

  std::vector<spooled_run> spooled_;
  uint64_t spool_size_ = 0;
  bool merging_ = false;
  std::vector<size_t> heap_; ///< Runs with entries left, least entry first.
  run out_;                  ///< Merged page under way.
  entry last_merged_;
  uint64_t merged_at_ = 0;       ///< Offset of the first merged page.
  uint64_t merged_ = 0;          ///< Entries merged.
  std::vector<uint64_t> fences_; ///< First word of every merged page.
};

} // namespace weir::atproto
